"""What a document says it is about, and what its statements take along of it."""

import pytest

from memman.llm.builtin.extract import DOCUMENT, LONGEST_TITLE, extract, names, title, titled
from memman.llm.builtin.split import split


@pytest.mark.parametrize(
    ("note", "about"),
    [
        ("# harbour-gate\n\nOpens at six.", "harbour-gate"),
        ("Release notes 4.2\n=================\n\nNew: maps", "Release notes 4.2"),
        ("PIPE-7  Weights are lost\n\nOn export.", "PIPE-7 Weights are lost"),
        ("RUNBOOK: the queue is full\n\nStop the feeder.", "RUNBOOK: the queue is full"),
        ("Design note: offline maps\nstatus: agreed\n\nTiles are kept.", "Design note: offline maps"),
        ("From: Ana\nTo: Bo\nSubject: Re: Fwd: the new lift\n\nHi Bo,", "the new lift"),
        ("---\ntitle: Access to the viewer\n---\n\nAsk Gunnar.", "Access to the viewer"),
        ("Weekly sync, 14 May\n(by Bo, in a hurry)\n\n- the lift", "Weekly sync, 14 May"),
        ("From: Ana\nTo: Bo\n\nHi Bo,\nthe lift", ""),
        ("Subject: Infrastructure: Postgres upgrade\n\nHi,", "Infrastructure: Postgres upgrade"),
        ("```yaml\ntitle: string\n```\n\n# Forms\n\nAsk Bo.", ""),
        ("- Always use tabs in Go files\n\n- Never deploy on Fridays", ""),
        ("1. Always use tabs in Go files\n\n2. Never deploy on Fridays", ""),
        ("Hi team\n\nthe lift is broken", ""),
        ("import os\n\nprint(1)", ""),
        ("hi all,\n\nthe lift is broken", ""),
        ("The lift is broken.\n\nIt is mended on Friday.", ""),
        ("[09:35] bo: morning\n[09:36] ana: morning", ""),
        ("09:35 bo: morning\n\n09:36 ana: morning", ""),
        ("commit 7be01f4c9a\nAuthor: Bo <bo@example.org>\n\n    Mend the lift", ""),
        ("We keep the maps on disk\nand read them at start", ""),
        ("# " + "long " * LONGEST_TITLE + "\n\nOpens at six.", ""),
        ("", ""),
        ("\n\n", ""),
        ("one line", ""),
    ],
)
def test_a_document_names_what_it_is_about(note, about):
    """A heading, a subject, or a first line that stands by itself: no talk, no sentence, nothing a program wrote."""
    assert title(note) == about


def test_a_statement_that_names_the_subject_itself_takes_no_title():
    """The title stands before what would not be understood without it, and is not said twice."""
    assert titled("Quota is 5,000 calls a day.", "Rates API") == "Rates API: Quota is 5,000 calls a day."
    assert titled("The Rates API allows 5,000 calls a day.", "Rates API") == "The Rates API allows 5,000 calls a day."
    assert names("Subject: Rates API", "Rates API")
    assert not names("The Rates API allows 5,000 calls a day.", "Rates API")
    assert names("PIPE-7 Weights are lost", title("PIPE-7  Weights are lost\n\nOn export."))
    assert not names("Never push to main.", "Push to main")
    assert not names("The staging database port is 5433.", "Staging database port")
    assert titled("Opens at six.", "") == "Opens at six."


DOC = """# Ferry tickets API

Access tokens live 8 hours.
Hi all

## Limits

- The quota is 5,000 calls per day per dealer.
- A request may hold at most 40 tickets.
- Requests over 2 MB are refused.

## See also

- the wiki
- the other wiki

Thanks!
"""


def test_what_a_document_leaves_is_understood_without_it(judge):
    """Each memory names the document's subject; a short note is kept as it is."""
    assert len(split(DOC)) >= DOCUMENT
    facts = [fact["text"] for fact in extract({"text": DOC}, judge)["facts"]]
    assert any("5,000 calls" in fact for fact in facts)
    assert all("Ferry tickets API" in fact for fact in facts), facts
    assert "Ferry tickets API" not in facts
    short = "# Ferry tickets API\n\nAccess tokens live 8 hours."
    assert len(extract({"text": short}, judge)["facts"]) == 1


def test_of_a_document_that_seems_worth_little_something_is_kept(judge):
    """Somebody wanted it remembered; what is worth least beside the rest is left out all the same."""
    note = "\n\n".join(
        ["Thanks to all of you, see you there", *(f"Then click on button {n} and wait" for n in range(8))]
    )
    facts = extract({"text": note}, judge)["facts"]
    assert facts


def test_rules_that_follow_each_other_have_no_title(judge):
    """The first of a list of rules, or of paragraphs, is one of them: it is kept, and stands before no other."""
    rules = ["Never deploy on Fridays", "Always use tabs in Go files", "We use pnpm, not npm", "Alice owns billing"]
    rules += ["PRs need two approvals", "Commit messages are in English", "Tests must never hit the network"]
    for mark in ("", "- "):
        facts = [fact["text"] for fact in extract({"text": "\n\n".join(mark + rule for rule in rules)}, judge)["facts"]]
        assert "Never deploy on Fridays" in facts
        assert sum("Fridays" in fact for fact in facts) == 1
