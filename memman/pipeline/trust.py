"""Whose word a fact is, what that lets it do, and what is held back until a person has looked at it."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from memman.belief import AGENT, STEER, USER, WISH, allowed, lowest, trusted
from memman.model.answer import said
from memman.model.records import DEFAULT_IMPORTANCE, Candidate, Fact, Note
from memman.model.terms import words
from memman.model.vocabulary import REMEMBERED, WISHES
from memman.pipeline.comparison import twins
from memman.pipeline.injection import parts, planted, steering
from memman.pipeline.plan import Tools

# How somebody begins who tells what others say: a third party that says or wants it.
_REPORT = re.compile(
    r"(?:(?:the|an?|our|my|his|her|their) )?"
    r"(?:(?!(?:i|we|you|user|it|this|that|which|what|who|as|like|never|always|also)\b)[\w\u2019'-]+ ){1,2}"
    r"(?:says?|said|wants?|wanted|insists?|told (?:me|us)|asked (?:me|us|for))\b",
    re.IGNORECASE,
)


def source(note: Note, fact: Fact) -> str:
    """Return whose word a fact is: the least trusted of those it comes from."""
    return lowest(note.provenance.source, fact.source)


def whose(note: Note, fact: Fact, candidates: Sequence[Candidate]) -> str:
    """Return whose word a fact is: what an agent says in nearly the words of an unverified memory it hands on."""
    mine = source(note, fact)
    read = [c for c in candidates if not trusted(c.source)] if mine == AGENT else []
    return lowest(mine, *(c.source for c in read if twins(c.text, fact.text)))


def prompted(note: Note, fact: Fact) -> bool:
    """Whether a prompt holds what is nobody's word: the user may have typed it, or pasted it."""
    turn = note.channel in {"turn", "watched"}
    return turn and bool(fact.source) and set(words(said(fact.text))) <= set(words(note.text))


def reported(note: Note, fact: Fact) -> bool:
    """Whether a fact is what others said, told by the user: nobody's wish, and by itself it retires nothing."""
    return source(note, fact) == USER and not note.hints.category and bool(_REPORT.match(fact.text))


def told(fact: Fact) -> Fact:
    """Return a fact as the agent's word, which is nobody's wish."""
    return replace(fact, source=AGENT, category=_unwished(fact))


async def weighed(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Give each fact the weight of its source, and hold back what is written to steer an agent.

    Of a note that somebody asked to be remembered a planted structure holds back all.
    """
    asked = [part for fact in facts if not allowed(source(note, fact), STEER) for part in parts(fact)]
    found = await asyncio.to_thread(steering, tools.judge, asked)
    held = {part: why for part, why in zip(asked, found, strict=True) if why}
    whole = planted(note.text) if note.channel in REMEMBERED else ""
    return tuple(_weighed(note, fact, held, whole) for fact in facts)


def _weighed(note: Note, fact: Fact, held: Mapping[str, str], whole: str) -> Fact:
    mine = source(note, fact)
    why = "" if allowed(mine, STEER) else next((held[part] for part in parts(fact) if part in held), whole)
    weight = bounded(fact, mine)
    return replace(weight, held=why, category=_unwished(fact) if reported(note, fact) else weight.category)


def bounded(fact: Fact, whose: str) -> Fact:
    """Give a fact no more weight than its source may have: low trust wishes nothing and is of ordinary importance."""
    if allowed(whose, WISH):
        return fact
    return replace(fact, category=_unwished(fact), importance=min(fact.importance, DEFAULT_IMPORTANCE))


def _unwished(fact: Fact) -> str:
    return "fact" if fact.category in WISHES else fact.category
