"""Whose word a fact is, what that lets it do, and what is held back until a person has looked at it."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace

from memman.model.records import DEFAULT_IMPORTANCE, Candidate, Fact, Note
from memman.model.trust import lowest, rank, unverified
from memman.pipeline.comparison import twins
from memman.pipeline.injection import attack, labelled, order, reported
from memman.pipeline.plan import Tools

# What only a person can say of what they want.
_WISHES = frozenset({"preference", "decision"})
# Why a fact waits that the judge takes for an order, whatever its words.
STEERS = "reads as if written to steer agents"
# What the judge says of a text that is.
PROBABLY = 2


def source(note: Note, fact: Fact) -> str:
    """Return whose word a fact is: the least trusted of those it comes from."""
    return lowest(note.provenance.source, fact.source)


def whose(note: Note, fact: Fact, candidates: Sequence[Candidate]) -> str:
    """Return whose word a fact is: what an agent says in nearly the words of an unverified memory it hands on."""
    mine = source(note, fact)
    read = [c for c in candidates if unverified(c.source)] if mine == "agent" else []
    return lowest(mine, *(c.source for c in read if twins(c.text, fact.text)))


def may_touch(mine: str, other: str) -> bool:
    """Whether what is of source `mine` may retire what is of source `other`, or put it in doubt."""
    return rank(mine) <= rank(other)


def may_confirm(fact: Fact, mine: str, other: str) -> bool:
    """Whether a fact confirms a memory of source `other` that says the same; what an agent repeats unasked does not."""
    return not fact.source and (may_touch(mine, other) or not unverified(mine))


def vouches(mine: str, other: str) -> bool:
    """Whether the user says themselves what nobody but a page, a file or a tool said before."""
    return mine == "user" and unverified(other)


def told(fact: Fact) -> Fact:
    """Return a fact as the agent's word, which is nobody's wish."""
    return replace(fact, source="agent", category=_unwished(fact))


async def weighed(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Give each fact the weight of its source, and hold back what is written to steer an agent."""
    asked = [fact.text for fact in facts if source(note, fact) != "user"]
    found = await asyncio.to_thread(tools.judge.steering, asked) if tools.judge and asked else []
    steering = frozenset(text for text, band in zip(asked, found, strict=False) if band == PROBABLY)
    return tuple(_weighed(note, fact, steers=fact.text in steering) for fact in facts)


def _weighed(note: Note, fact: Fact, *, steers: bool) -> Fact:
    """Lower what an agent read somewhere to that source; what such a source says is nobody's wish."""
    whose = source(note, fact)
    read = _read(note, fact) if whose == "agent" else ""
    if read:
        fact, whose = replace(fact, source=read), read
    fact = bounded(fact, whose)
    return replace(fact, held="" if whose == "user" else _held(note, fact, whose) or (STEERS if steers else ""))


def bounded(fact: Fact, whose: str) -> Fact:
    """Give a fact no more weight than its source may have: low trust wishes nothing and is of ordinary importance."""
    if not unverified(whose):
        return fact
    return replace(fact, category=_unwished(fact), importance=min(fact.importance, DEFAULT_IMPORTANCE))


def _unwished(fact: Fact) -> str:
    return "fact" if fact.category in _WISHES else fact.category


def _read(note: Note, fact: Fact) -> str:
    """Return the source that an agent read a fact in, '' where it says of none; a summary tells of many things."""
    said = {"note": note.text, "turn": note.reply}.get(note.channel, "")
    return reported(fact.text) or labelled(fact.text) or reported(said) or (labelled(said) if said is note.text else "")


def _held(note: Note, fact: Fact, whose: str) -> str:
    """Say why a fact waits for a person, '' where it need not.

    Of a note that somebody asked to be remembered one attack holds back all.
    """
    whole = attack(note.text) if note.channel == "note" else ""
    return _first(order if unverified(whose) else attack, fact) or whole


def _first(judge: Callable[[str], str], fact: Fact) -> str:
    """Judge all of a fact that an agent may read; names and keywords also joined, for each may be part of an order."""
    lists = (fact.entities, fact.keywords)
    texts = (fact.text, fact.summary, *(text for texts in lists for text in (*texts, " ".join(texts))))
    return next((why for text in texts if (why := judge(text))), "")
