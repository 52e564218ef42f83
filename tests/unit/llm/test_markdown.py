"""An item of a list never stands without the line that introduces it, wherever the list comes from."""

import pytest

from memman.llm.builtin.extract import extract
from memman.llm.builtin.markdown import blocks
from memman.llm.builtin.turn import turn
from memman.pipeline.heard import own
from memman.portable.formats.rules import TEXT, passages

TWO = "- push to main\n- use dates in TypeScript\n"
LEADS = {
    "Forbidden\n\n": "Forbidden",
    "Don'ts\n\n": "Don'ts",
    "Never:\n\n\n": "Never",
    "**Don't**\n\n": "Don't",
    "**Never:**\n": "Never",
    "__No-gos__:\n\n": "No-gos",
    "## Don'ts\n\n": "Don'ts",
    "❌\n": "❌",
    "Never do these.\n\n": "Never do these",
    "We talked about it. None of these survived\n\n": "None of these survived",
    "in none of our services, e.g. in billing, do we ever want to see any of the following things again,\n"
    "whoever asks for it:\n": "whoever asks for it",
    "## Never\n\n### Git\n\n- rebase\n\n### Other\n\n": "Never: Other",
    "## Required\n\n- lint\n\nDon'ts\n\n": "Don'ts",
    "## Required\n\n- Tests first. They run at night.\n\n**Never**\n\n": "Never",
}
NESTED = [
    "- Never\n  - push to main\n\n  - use dates in TypeScript",
    "- Never.\n  - push to main\n  - use dates in TypeScript",
    "- Never in any\n  of ours\n  - push to main\n  - use dates in TypeScript",
    "Never:\n1) push to main\n\n2) use dates in TypeScript",
    "Never:\n- push to main. It breaks the train.\n- use dates in TypeScript",
    "Never:\n- push to main. Use dates in TypeScript. Always use uv for Python.",
    "Never:\n- push to main\n\n  use dates in TypeScript",
    "Never:\n- " + "we use dates in TypeScript for all that is older than a day and for nothing else. " * 5,
]


def noted(said, judge, _):
    """Return the statements that are made of a note."""
    payload = {"text": said, "category": None, "importance": None, "entities": [], "source": "user"}
    return [fact["text"] for fact in extract(payload, judge)["facts"]]


def turned(said, judge, _):
    """Return what is kept of a prompt, and what is compared with memories."""
    found = turn({"user": own(f"{said}\n\nplease always keep to that"), "agent": "", "summary": ""}, judge)
    return [fact["text"] for fact in (*found["facts"], *found["statements"])]


def ruled(said, judge, tmp_path):
    """Return what is stored of a file of rules."""
    return [text for item in passages(said) for text in noted(item, judge, tmp_path)]


def listed(said, judge, tmp_path):
    """Return what is stored of a text file."""
    (path := tmp_path / "notes.txt").write_text(said, encoding="utf-8")
    return [text for item in TEXT.read(str(path)).items for text in noted(item.text, judge, tmp_path)]


@pytest.mark.parametrize("channel", [noted, turned, ruled, listed])
def test_each_item_carries_the_nearest_line_before_its_list(judge, tmp_path, channel):
    """A heading, a bold or a plain line introduces a list, with or without a blank line between."""
    for lead, label in LEADS.items():
        for text in channel(lead + TWO, judge, tmp_path):
            if "dates" in text:
                assert f"{label}: " in text, (lead, text)
                assert "Required" not in text, (lead, text)
    for said in NESTED:
        found = channel(said, judge, tmp_path)
        bare = [text for text in found if "dates" in text and "never" not in text.casefold()]
        assert found, said
        assert not bare, (said, found)


def test_a_line_that_introduces_a_list_is_no_memory_by_itself(judge, tmp_path):
    """It is said with the items; one without a lead stands alone, and so does a line of a text file."""
    said = "Forbidden\n\n- push to main\n\nThe lift is inspected in May.\nThe heron is our mascot.\n"
    assert listed(said, judge, tmp_path) == [
        "Forbidden: push to main",
        "The lift is inspected in May.",
        "The heron is our mascot.",
    ]


def test_code_keeps_its_tags():
    """Those of layout are left out of prose, and a fence is known by what it names."""
    said = "# Shop\n\n<p>Text within `<p>` is <b>short</b>.</p>\n\n## Run\n\n```Bash\nmake all\n```\n"
    assert [(one.text, one.headings, one.language) for one in blocks(said)] == [
        ("Text within `<p>` is short.", ("Shop",), ""),
        ("make all", ("Run",), "bash"),
    ]
