"""Which facts of an agent say only what is known, in the same words or in others."""

import asyncio
import json
from pathlib import Path

import pytest

from memman.clock import now_ms
from memman.judge.embedder import BuiltinEmbedder
from memman.judge.judge import Judge
from memman.llm.builtin import BuiltinLLM
from memman.model.records import Candidate, Fact, Note, Verdict
from memman.pipeline.known import known, news
from memman.pipeline.plan import Plan, Tools
from memman.store.sqlite.reader import SqliteReader

# A memory and a fact of an agent: the same in other words, or another finding on the same subject.
PAIRS = [
    json.loads(line) for line in Path(__file__).with_name("rephrased.jsonl").read_text(encoding="utf-8").splitlines()
]
SAME = [pair for pair in PAIRS if pair["same"]]
OTHER = [pair for pair in PAIRS if not pair["same"]]


def learned(box, facts, shown=()):
    """Return which of an agent's `facts` are news to the store of `box`, each by itself."""

    async def run():
        local = BuiltinEmbedder()
        reader = SqliteReader.open(str(box.store_path()))
        rules = BuiltinLLM(Judge())
        tools = Tools(rules, rules, local, local, reader, now_ms, judge=rules.judge)
        note = Note("n" * 32, "default", "", 0, channel="compact", shown=tuple(shown))
        found = [await news(tools, note, (Fact(text, source="agent"),)) for text in facts]
        await local.close()
        return [fact.text for kept in found for fact in kept]

    return asyncio.run(run())


def remembered(box, *texts):
    """Store each text as a memory."""
    for text in texts:
        box.remember(text)
    box.drain(seconds=60)


@pytest.mark.slow
def test_what_is_known_in_other_words_is_mostly_not_learned_again(box):
    """Of 52 memories told in other words, at most 8 are learned again."""
    assert len(SAME) == 52
    remembered(box, *dict.fromkeys(pair["memory"] for pair in SAME))
    again = learned(box, [pair["fact"] for pair in SAME])
    assert len(again) <= 9, again


@pytest.mark.slow
def test_a_finding_on_a_known_subject_is_learned(box):
    """Of 102 facts on the subjects of stored memories, at least 87 are learned."""
    assert len(OTHER) == 102
    remembered(box, *dict.fromkeys(pair["memory"] for pair in OTHER))
    assert len(learned(box, [pair["fact"] for pair in OTHER])) >= 87


def test_a_wish_that_was_shown_is_known_in_other_words(box):
    """The memory may be shown or only stored; another wish on its subject is news either way."""
    remembered(box, "I don't want emojis in docs.", "The billing API listens on port 8080.")
    rephrased = "The user does not want emoji characters in any documentation."
    other = "The user wants the docs built with Sphinx."
    uids = box.store("SELECT uid FROM memory")
    for shown in ((), uids):
        assert learned(box, [rephrased, other], shown) == [other]


def test_a_new_number_is_a_new_finding(box):
    """What differs from a memory in a number only is learned."""
    remembered(box, "The staging database listens on port 6543.")
    moved = "The staging database listens on port 7654."
    assert learned(box, [moved, "On port 6543 listens the staging database."]) == [moved]


def test_a_wish_turned_round_is_no_echo(box):
    """Who forbids does not say the same as who asks for it."""
    remembered(box, "I don't want emojis in docs.")
    unwanted = "The user does not want emoji characters in any documentation."
    wanted = unwanted.replace("does not want", "wants")
    assert learned(box, [unwanted, wanted]) == [wanted]


def test_an_echo_of_what_is_in_flight_is_known(box):
    """Of a fact that is not stored yet an agent's echo in other words is known, a user's only to the letter."""
    remembered(box, "The billing API has two replicas.")
    ahead = Candidate("a" * 34, "The staging database listens on port 6543.", "fact", (), 0, 0.9)
    echo = "On port 6543 listens the staging database."
    facts = (
        Fact(echo, source="agent"),
        Fact(echo),
        Fact(ahead.text),
        Fact(ahead.text, source="web", held="an order"),
        Fact("The staging database listens on port 7654.", source="agent"),
    )
    plan = Plan(Note("n" * 32, "default", "", 0), facts=facts, candidates=((ahead,),) * len(facts))
    reader, rules, local = SqliteReader.open(str(box.store_path())), BuiltinLLM(Judge()), BuiltinEmbedder()
    tools = Tools(rules, rules, local, local, reader, now_ms, judge=rules.judge)
    assert [(one.fact, one.action, one.memory) for one in known(tools, plan)] == [
        (0, "NONE", ahead.uid),
        (2, "NONE", ahead.uid),
    ]
    ended = Plan(plan.note, facts=facts[2:3], candidates=((ahead,),), verdicts=(Verdict(0, "UPDATE", ahead.uid, ""),))
    assert list(known(tools, ended)) == []
    reader.close()
