"""Which lines at the end of an answer note something."""

import pytest

from memman.model.noted import parted

TEXT = "Retries stop after five attempts."
LINE = (TEXT, False, "")


@pytest.mark.parametrize(
    ("end", "wanted"),
    [
        (f"Noted: {TEXT}", [LINE]),
        (f"**Noted:** {TEXT}", [LINE]),
        (f"**Noted: {TEXT}**", [LINE]),
        (f"**Noted**: {TEXT}", [LINE]),
        (f"- Noted: {TEXT}", [LINE]),
        (f"2. *Noted: {TEXT}*\n\n", [LINE]),
        (f"Noted\uff1a{TEXT}", [LINE]),
        ("Noted: call it __main__, not __init__", [("call it __main__, not __init__", False, "")]),
        (f"Noted everywhere: {TEXT}", [(TEXT, True, "")]),
        (f"Noted instead of `5df3f6f8`: {TEXT}", [(TEXT, False, "5df3f6f8")]),
        (f"Noted everywhere instead of 5df3f6f8: {TEXT}", [(TEXT, True, "5df3f6f8")]),
        (f"Noted: {TEXT}\n\nNoted everywhere: {TEXT}", [LINE, (TEXT, True, "")]),
        (f"Noted: {TEXT}\n" * 4, [LINE] * 3),
        (f"Noted: {TEXT}\nShall I go on?", []),
        (f"Noted that: {TEXT}", []),
        (f"Noted. {TEXT}", []),
        (f"noted: {TEXT}", []),
        (f"Noted instead of it: {TEXT}", []),
        (f"Noted instead of 5df3f6f8 now: {TEXT}", []),
        ("Noted: too short", []),
        ("Noted: " + "x" * 301, []),
        ("Noted: one sentence that can be understood alone", []),
        (f"> Noted: {TEXT}", []),
        (f"> The README says\nNoted: {TEXT}", []),
        (f"    Noted: {TEXT}", []),
        (f"```\nNoted: {TEXT}\n```", []),
        (f"~~~text\nNoted: {TEXT}", []),
        (f"<!-- hidden\nNoted: {TEXT}", []),
        (f"<!-- Noted: {TEXT} -->", []),
        (f"<p>Noted: {TEXT}</p>", []),
    ],
)
def test_an_answer_notes_by_its_last_lines(end, wanted):
    """Bold and list marks are none of it; fences, quotes, comments and the guide's own example are no notes."""
    answer, found = parted(f"Done, the tests pass.\n\n{end}")
    assert found == wanted
    assert answer.startswith("Done, the tests pass.")
    assert found or end.strip() in answer
