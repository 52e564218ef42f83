"""Which words of a turn are kept, and which of them are the user's own."""

import json
import time
from pathlib import Path

import pytest

from memman.judge.judge import Judge, Span
from memman.llm.builtin.turn import turn
from memman.pipeline.speech import LONGEST, own, prose

DATA = Path(__file__).parent.parent / "data"
NEUTRAL = "neutral"
JUDGE = Judge()


def labelled(name):
    """Read one labelled set."""
    return [json.loads(line) for line in (DATA / f"turns_{name}.jsonl").read_text(encoding="utf-8").splitlines()]


class Hoarder:
    """A judge that would keep everything that it reads."""

    def spans_of(self, texts):
        """Return each text as a span, and its second half as another."""
        return [[Span(start, len(text), "preference", 1.0) for start in (0, len(text) // 2)] for text in texts]


def kept(text, judge=JUDGE):
    """Return what the judge keeps of a prompt, as (category, text)."""
    facts = turn({"user": own(text), "agent": "", "summary": ""}, judge)["facts"]
    return [(fact["category"], fact["text"]) for fact in facts]


def test_labelled_turns_are_told_apart():
    """Of 310 neutral turns few leave anything, of 215 others most leave what the label names.

    The judge was not taught them, but earlier rules were written with all but the last set in view.
    """
    turns = [turn for name in "abcdefgh" for turn in labelled(name)]
    stored = [t["text"] for t in turns if t["label"] == NEUTRAL and kept(t["text"])]
    caught = [t for t in turns if t["label"] != NEUTRAL and t["catch"].lower() in str(kept(t["text"])).lower()]
    assert len(stored) <= 30, stored
    assert len(caught) >= 130


def test_the_sets_have_the_sizes_that_the_thresholds_are_meant_for():
    """The first set is the one of forty neutral turns and twenty others."""
    labels = {name: [t["label"] for t in labelled(name)] for name in "abcdefgh"}
    sizes = [(said.count(NEUTRAL), len(said)) for said in labels.values()]
    assert sizes == [(40, 60), (40, 65), (40, 65), (40, 65), (30, 50), (60, 100), (60, 100), (40, 60)]


PASTED = [
    ("```\nalways use tabs\n```\nfix it", "fix it"),
    ("fix it\n```\nalways use tabs", "fix it"),
    ("~~~py\nnever do this\n~~~\nwhy?", "why?"),
    ("> I prefer tabs\n\nis that so?", "is that so?"),
    ("<memman-memory>\nab12cd34 3d user: always use tabs\n</memman-memory>\nrun the tests", "run the tests"),
    ("<system-reminder>never stop</system-reminder>go on", "go on"),
    ("ab12cd34 3d user: always use tabs\n\nis this still true?", "is this still true?"),
    ('Traceback (most recent call last):\n  File "a.py"\nValueError: you must always pass a token', ""),
    ("src/app.py\nsrc/db.py:12:3\n\nopen these", "open these"),
    ("2026-03-01T10:00:00 WARN always set NODE_ENV\n\nwhy?", "why?"),
    ("$ npm test\nnever run this as root\n\nhm", "hm"),
    ("+never run this\n-always run this\n\nok?", "ok?"),
    ("here is the mail:\n\nDear all,\n\nI prefer Fridays.\n\nCheers, Ann", "here is the mail:"),
    ("translate to German: never share your password", "translate to German:"),
    ("my rules:\n- always use tabs\n- never push", "my rules:\n- always use tabs\n- never push"),
    ("use <Link> and not <a> from now on", "use <Link> and not <a> from now on"),
    ("wie geht's?\n\nimmer noch rot", "wie geht's?\n\nimmer noch rot"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "left"), PASTED)
def test_what_was_pasted_is_not_the_users_word(text, left):
    """Fences, quotes, frames, logs, traces, diffs, paths and pasted documents are left out; the rest stays."""
    assert own(text) == left


def test_an_agents_message_keeps_its_prose():
    """Of a reply, code, quotes, tables and lines of recall go, headings and lists stay."""
    reply = "# Done\n\n- one\n- ab12cd34 3d user: use tabs\n\n> quoted\n\n```\ncode\n```\n| a | b |\n\nIt is 8081."
    assert prose(reply) == "# Done\n\n- one\n\nIt is 8081."


@pytest.mark.parametrize(
    "text",
    [
        "<a>" * 40_000,
        "a-b " * 30_000,
        "`" * 60_000,
        '"' * 60_000,
        "no, " * 30_000,
        "always " * 20_000,
        "if you " * 20_000,
        "x=" * 50_000,
        "we " * 40_000 + "now",
        "I told you " * 10_000,
        "\t" * 100_000,
        "use a " * 20_000 + "everywhere",
        ("use " + "word " * 60 + ".\n") * 300,
        "our new " * 8_000,
        "how many times " * 4_000,
        ("all " * 60 + "is ,\n") * 300,
    ],
)
def test_a_hostile_prompt_costs_no_more_than_a_long_one(text):
    """No pattern runs away over a prompt made for it; nothing beyond the bound is read.

    What the judge itself costs is linear, and most of it: one that keeps all takes its place.
    """
    began = time.process_time()
    kept(text, Hoarder())
    prose(text)
    assert time.process_time() - began < 20
    assert len(own(text)) <= LONGEST


def test_a_rule_is_kept_beside_one_that_begins_alike():
    """Neither goes because the words of the other begin with its own."""
    said = "- always use uv\n- always use uvicorn to serve the app\n"
    said += "- never push to main\n- never push to main-staging without review"
    assert [text for _, text in kept(said)] == [line[2:] for line in said.splitlines()]


def test_one_turn_leaves_a_bounded_number_of_facts():
    """Who pastes a hundred rules is not told apart from a document."""
    assert len(kept("\n".join(f"- never use tool{n} in tests" for n in range(100)))) == 8


@pytest.mark.parametrize("filling", [10, 500, 2_000])
def test_of_a_long_prompt_both_ends_are_judged(filling):
    """What stands first and last is kept, however much is said between."""
    talk = "Open the next page and look at it again. " * filling
    said = f"Always run make lint before committing. {talk}From now on, always answer in French."
    assert [text for _, text in kept(said[:LONGEST])][:1] == ["Always run make lint before committing."]
    assert ("French" in str(kept(said))) == (len(said) <= LONGEST)
