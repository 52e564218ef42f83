"""Whose word a fact is, what that lets it do, and what is held back until a person has looked at it."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from memman.model.records import DEFAULT_IMPORTANCE, Fact, Note
from memman.model.vocabulary import LOW_TRUST, SOURCES
from memman.pipeline.injection import advice, attack, labelled, order, reported

# What only a person can say of what they want.
OWN_CATEGORIES = frozenset({"preference", "decision"})


def rank(source: str) -> int:
    """Rank a source, 0 the most trusted."""
    return SOURCES.index(source) if source in SOURCES else len(SOURCES)


def lowest(*sources: str) -> str:
    """Return the least trusted of some sources; '' says nothing."""
    return max(filter(None, sources), key=rank)


def source(note: Note, fact: Fact) -> str:
    """Return whose word a fact is: the least trusted of those it comes from."""
    return lowest(note.provenance.source, fact.source)


def may_touch(fact: Fact, mine: str, other: str) -> bool:
    """Whether a fact of source `mine` may retire or confirm a memory of source `other`.

    What neither the user nor their agent said touches nothing they said, nor does what an agent said in passing.
    """
    return rank(mine) <= rank(other) or not (fact.source or mine in LOW_TRUST)


def weighed(note: Note, facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Give each fact the weight of its source, and hold back what is written to steer an agent."""
    return tuple(_weighed(note, fact) for fact in facts)


def _weighed(note: Note, fact: Fact) -> Fact:
    """Lower what an agent read somewhere to that source; what such a source says is nobody's wish."""
    whose = source(note, fact)
    told = _read(note, fact) if whose == "agent" else ""
    if told:
        fact, whose = replace(fact, source=told), told
    fact = bounded(fact, whose)
    return replace(fact, held="" if whose == "user" else _held(note, fact, whose))


def bounded(fact: Fact, whose: str) -> Fact:
    """Give a fact no more weight than its source may have: low trust wishes nothing and is of ordinary importance."""
    if whose not in LOW_TRUST:
        return fact
    category = "fact" if fact.category in OWN_CATEGORIES else fact.category
    return replace(fact, category=category, importance=min(fact.importance, DEFAULT_IMPORTANCE))


def _read(note: Note, fact: Fact) -> str:
    """Return the source that an agent read a fact in, '' where it says of none; a summary tells of many things."""
    said = {"note": note.text, "turn": note.reply}.get(note.channel, "")
    return reported(fact.text) or labelled(fact.text) or reported(said) or (labelled(said) if said is note.text else "")


def _held(note: Note, fact: Fact, whose: str) -> str:
    """Say why a fact waits for a person, '' where it need not.

    An agent may hand on its user's orders, but in no reply of a turn: of that turn the user's own words were heard.
    Of a note that somebody asked to be remembered one attack holds back all.
    """
    whole = attack(note.text) if note.channel == "note" else ""
    if whose in LOW_TRUST:
        return _first(order, fact) or whole
    if note.channel == "turn" and fact.source:
        return _first(order, fact) or advice(fact.text)
    return _first(attack, fact) or whole


def _first(judge: Callable[[str], str], fact: Fact) -> str:
    """Judge all of a fact that an agent may read; names and keywords also joined, for each may be part of an order."""
    lists = (fact.entities, fact.keywords)
    texts = (fact.text, fact.summary, *(text for texts in lists for text in (*texts, " ".join(texts))))
    return next((why for text in texts if (why := judge(text))), "")
