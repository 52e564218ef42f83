"""The trained judge: what it finds worth keeping, and what a new statement does to an old one."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from memman.embed.static import TABLE, StaticTable
from memman.judge.embedder import BuiltinEmbedder
from memman.judge.heads import MAYBE, SURE
from memman.judge.judge import (
    ABOUT,
    FOLDER,
    LONGEST_TEXT,
    MANIFEST,
    MEMORY,
    VOCABULARY,
    WEIGHTS,
    Judge,
    Span,
    damage,
    tokens,
)
from memman.llm.builtin.turn import turn

# Plain statements, each with one that ends it, and one that only looks like it.
CHANGES = [
    ("Sessions expire after 30 minutes.", "Sessions now expire after 8 hours.", "Invitations expire after 8 hours."),
    ("We use Redis for caching.", "We switched from Redis to Valkey for caching.", "We use Redis for queues, too."),
    ("Deploys happen on Fridays.", "Deploys happen on Tuesdays now.", "Backups happen on Tuesdays."),
    ("Alice owns billing.", "Bob owns billing now.", "Bob owns the search."),
    ("The upload limit is 5 MB.", "The upload limit is now 20 MB.", "The log file limit is 20 MB."),
    ("Use Postgres 14.", "We upgraded Postgres to 16.", "Should we upgrade Postgres to 16?"),
]
# Of a project's log: a statement or a subject, and a later one that speaks of the same and makes nothing out of date.
LOG = [
    ("Redis keeps the sessions, for eight hours.", "The session cache and the tool that fills it"),
    ("Fix a race between two writers of the index", "Tests for two writers of the index at once"),
    ("The importer reads CSV and JSON.", "importer: say in which line a file is broken"),
    ("docs: the search in plain English", "docs: the importer in plain English"),
    ("Search: 120 rows a second before, 180 after.", "Search at a million rows, measured once more"),
    ("A backup is taken each night.", "What a backup leaves out is named in its report"),
    ("A drain beside writers may take as long as they write.", "A log that is full is not read by drains any further"),
    ("Real clients run the hooks, in the gate", "What a review found: hooks are counted, and late ones told"),
]
# What people say, and what of it is worth keeping.
SAID = [
    ("never use npm here, we're on pnpm. also can you install zustand?", "never use npm here"),
    ("Always run make lint before committing.", "Always run make lint before committing"),
    ("From now on, answer in German.", "answer in German"),
    ("no, we deploy with fly, not heroku", "we deploy with fly, not heroku"),
    ("The staging DB is on port 5433.", "The staging DB is on port 5433"),
    ("bitte antworte immer auf Deutsch", "antworte immer auf Deutsch"),
    ("use uv instead of pip", "use uv instead of pip"),
    ("tests must never hit the network", "tests must never hit the network"),
]
TRANSIENT = [
    "fix the failing test",
    "thanks, that worked",
    "don't touch the tests yet",
    "what does this function do?",
    "the build is red again",
    "run it again please",
]


# The digests of what makes the vectors that stores know by a name. New weights are a new line, with VERSION of
# tools/train_embedder/export.py counted up: under the old name stores would keep their old vectors.
SPACES = {
    "memman-questions-v1": (
        "622596ceeb50d28907d0b15f9821b0d26231a4824c960dff15d4887ff8bac145",
        "aeaa70bfa82c297a76661fae370d98639cd30a2e0cb6acc4ed34deeb2cde1794",
    )
}


def test_other_weights_have_another_name():
    """Matrix and table, which names the judge, are those that vectors of this name have always been made with."""
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in (Path(FOLDER, MEMORY), Path(TABLE))]
    assert tuple(digests) == SPACES[BuiltinEmbedder().fingerprint.model]


def test_the_weights_are_those_of_the_manifest():
    """All files have the digests that the trainings wrote, are of one judge, and no larger than promised."""
    manifest = json.loads(Path(FOLDER, MANIFEST).read_text(encoding="utf-8"))
    files = {Path(TABLE), *(Path(FOLDER, name) for name in (WEIGHTS, MEMORY, VOCABULARY))}
    assert {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files} == manifest["sha256"]
    assert Path(FOLDER, WEIGHTS).stat().st_size <= 30_000_000
    assert Judge().name == StaticTable().judge == manifest["name"]


def ended(judge, old, new):
    """Return SURE, MAYBE or NOT."""
    return judge.endings(new, [old], [judge.relation(old, new)])[0][1]


@pytest.mark.parametrize(("old", "new", "other"), CHANGES)
def test_a_plain_change_ends_what_it_changes_and_nothing_else(judge, old, new, other):
    """The change is sure or at least likelier than not; what only looks like it is never sure."""
    assert judge.relation(old, new).ends >= 0.5
    assert ended(judge, old, new) >= MAYBE
    assert ended(judge, old, other) < SURE


@pytest.mark.parametrize(("old", "new"), LOG)
def test_a_commit_ends_no_statement_that_still_holds(judge, old, new):
    """Subjects of commits and titles, which are no statements, and what is merely added, retire nothing."""
    assert ended(judge, old, new) < SURE


def test_of_many_the_likeliest_are_looked_at_to_the_end():
    """A statement that may bear on one of many bears on what it ends; the answers of another question stay."""
    olds = tuple(old for old, _, _ in CHANGES)
    for n, (_, new, _) in enumerate(CHANGES):
        judge = Judge()
        (some,) = judge.compared([(new, olds)], 1)
        (all_of_them,) = judge.compared([(new, olds)])
        assert [k for k, one in enumerate(some) if one.apart < 1] in ([n], [])
        assert some[n].ends == pytest.approx(all_of_them[n].ends, abs=1e-3)
        assert judge.relation(olds[n], new).ends == pytest.approx(all_of_them[n].ends, abs=1e-3)


@pytest.mark.parametrize(("said", "kept"), SAID)
def test_what_is_said_for_good_is_kept_without_what_stands_beside_it(judge, said, kept):
    """The rule is kept, and neither the task nor the question."""
    found = [fact["text"] for fact in turn({"user": said, "agent": "", "summary": ""}, judge)["facts"]]
    assert any(kept in text for text in found), found
    assert not any("zustand" in text for text in found)


@pytest.mark.parametrize(("said", "kept"), SAID)
def test_a_rule_is_found_among_much_else(judge, said, kept):
    """Among many sentences each is read by itself: the rule is kept, and little of the rest."""
    talk = "I went through the log of last night. There is nothing in it. The page still shows the wrong total. "
    found = [fact["text"] for fact in turn({"user": f"{talk}{said}. {talk}", "summary": ""}, judge)["facts"]]
    assert any(kept in text for text in found), found
    assert len(found) <= 2


@pytest.mark.parametrize("said", TRANSIENT)
def test_what_is_of_the_moment_is_not_kept(judge, said):
    """Tasks, thanks, questions and observations leave nothing."""
    assert turn({"user": said, "agent": "", "summary": ""}, judge)["facts"] == []


def test_answers_do_not_depend_on_what_is_asked_beside():
    """Alone or among others, first or last, a statement gets the same vector and a pair the same relation."""
    texts = [text for change in CHANGES for text in change]
    together = Judge().about(texts)
    alone = np.concatenate([Judge().about([text]) for text in texts[:3]])
    assert together.shape == (len(texts), ABOUT)
    assert np.allclose(together[:3], alone, atol=1e-4)
    pairs = [(old, new) for old, new, _ in CHANGES]
    among = Judge().relations(pairs)
    assert among[-1].ends == pytest.approx(Judge().relation(*pairs[-1]).ends, abs=1e-4)


def test_what_bears_on_one_another_is_near(judge):
    """A change speaks of what it changes rather than of any of the others."""
    olds, news = (judge.about([change[side] for change in CHANGES]) for side in (0, 1))
    assert (news @ olds.T).argmax(axis=1).tolist() == list(range(len(CHANGES)))


def test_tokens_stand_where_their_words_do():
    """A token has the place of its word, in any script."""
    text = "Nutze pnpm, 用 pnpm!"
    vocabulary = {"[UNK]": 0, "nutz": 1, "##e": 2, "pn": 3, "##pm": 4, "用": 5, ",": 6, "!": 7}
    found = [(number, text[start:end]) for number, start, end in tokens(text, vocabulary, 100)]
    expected = [
        (1, "Nutze"),
        (2, "Nutze"),
        (3, "pnpm"),
        (4, "pnpm"),
        (6, ","),
        (5, "用"),
        (3, "pnpm"),
        (4, "pnpm"),
        (7, "!"),
    ]
    assert found == expected
    assert len(tokens(text, vocabulary, 3)) == 3


def test_a_long_text_is_read_to_its_end(judge):
    """A rule behind more than is read at once is found."""
    text = "please fix the failing test in the parser. " * 60 + "Never use npm here, we use pnpm."
    assert len(judge.read([text])[0]) > 2 * LONGEST_TEXT
    assert any("npm" in text[span.start : span.end] for span in judge.spans(text))


@pytest.mark.parametrize("text", ["", " ", "\n", "?", "🙂", "a" * 70_000, "a b " * 2_000, "\x00\ufffd"])
def test_any_text_is_judged(judge, text):
    """Whatever it is given, it answers."""
    judge.spans(text)
    assert 0 <= judge.relation(text, "We use uv.").ends <= 1
    assert judge.about([text]).shape == (1, ABOUT)


def test_a_changed_file_is_told(tmp_path):
    """Doctor's look at the judge's files finds one that is missing, changed or no manifest."""
    folder = f"{tmp_path}/"
    assert MANIFEST in damage(folder)
    for name in (MANIFEST, WEIGHTS, VOCABULARY, MEMORY):
        (tmp_path / name).write_bytes(Path(FOLDER, name).read_bytes())
    assert damage(folder) == ""
    for name in (MEMORY, WEIGHTS):
        with (tmp_path / name).open("r+b") as file:
            file.seek(100_000)
            file.write(b"\x7f\x7e\x7f\x7e")
        assert name in damage(folder)
    assert damage() == ""


def test_a_long_rule_is_kept_to_its_end():
    """Nothing is cut off what a user says, least of all inside a word."""
    rule = "Never deploy without " + ", ".join(f"the approval of team {n}" for n in range(30)) + " and a smoke test."

    class All(Judge):
        def spans_of(self, texts):
            return [[Span(0, len(text), "rule", 1.0)] for text in texts]

    (fact,) = turn({"user": rule, "summary": ""}, All())["facts"]
    assert fact["text"] == rule
