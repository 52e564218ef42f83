"""What `python -m bench.edges` measures of causal edges."""

from bench.edges import measured

CASE = {
    "kind": "causal",
    "notes": [
        {"text": "Git LFS quota was used up in week two.", "at": "2026-03-02T09:00:00", "session": "a"},
        {"text": "Assets moved to Perforce.", "at": "2026-03-09T09:00:00", "session": "b"},
        {"text": "The game uses Godot.", "at": "2026-03-10T09:00:00", "session": "c"},
    ],
    "ask": {"of": 1},
    "expect": [0],
    "causes": [0],
}


def test_recall_is_asked_why_before_and_after_causes_are_linked():
    """A cause that shares no word with its effect is found by the edge alone."""
    figures = measured([CASE])
    assert figures["causal"]["with"] == {"answered": 0.0, "right": 0.0}
    assert figures["why"] == {
        "questions": 1,
        "unlinked": {"answered": 0.0, "right": 0.0},
        "linked": {"answered": 100.0, "right": 100.0},
    }
