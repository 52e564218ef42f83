"""Whose word a fact is, what that lets it do, and who confirms what only an agent has said."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from memman.belief import AGENT, STEER, USER, WISH, allowed, apart, lowest, trusted
from memman.model.records import DEFAULT_IMPORTANCE, Candidate, Fact, Note
from memman.model.terms import respelled, words
from memman.model.text import said
from memman.model.vocabulary import REMEMBERED, WISHES
from memman.pipeline.comparison import faithful, in_order, numbers, original, says, twins
from memman.pipeline.heard import Heard, Said
from memman.pipeline.injection import parts, planted, steering
from memman.pipeline.plan import Plan, Tools
from memman.store import MemoryRow

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


# The user says it where the judge finds the two so probably the same, and a change so improbable.
SAME, CHANGED = 0.5, 0.1
# Memories of the note's own session that a user's words are compared with: an agent notes down before a turn ends.
_NEWEST = 16
_ALL = 1.0

# A stored memory, or a fact of the note that is yet to be stored as -(1 + number); and the session that bears it out.
Piece = tuple[int, str]


def borne_out(tools: Tools, plan: Plan) -> list[Piece]:
    """Return what the note bears out of agents' words, and what bears out its own; before the transaction."""
    reader = tools.reader
    near = reader.located({c.uid for found in plan.candidates for c in found})
    near |= set(reader.newest_of(plan.note.provenance.origin, _NEWEST))
    rows = reader.rows(near)
    doubtful = [rows[memory] for memory in sorted(reader.unconfirmed(near))]
    said = _words(tools, plan.note) if doubtful else ""
    pieces = {(row.id, plan.note.provenance.session) for row in doubtful if said and says_so(tools, said, row.text)}
    for n, fact in enumerate(plan.facts):
        candidates = plan.candidates[n] if plan.candidates else ()
        if fact.held or whose(plan.note, fact, candidates) != AGENT:
            continue
        pieces |= set(_by_others(tools, plan, n, rows.values()))
    return sorted(pieces)


def _words(tools: Tools, note: Note) -> str:
    """Return what a note's user said in their own words."""
    if note.provenance.source != USER:
        return ""
    if note.channel == "note":
        return note.text
    return "" if note.channel == "noted" else Heard.of(note, tools.judge).stated


def typed_in(tools: Tools, note: Note) -> str:
    """Return what the user typed in the turn that a note is from, '' for one that is from none."""
    if note.channel == "noted":
        return next(reversed(Said.of(note, tools.judge).typed), "")
    if note.channel not in {"turn", "watched"}:
        return ""
    return Heard.of(note, tools.judge).spoken.typed[0]


def _by_others(tools: Tools, plan: Plan, n: int, rows: Iterable[MemoryRow]) -> Iterator[Piece]:
    """Yield what the user, or another session, said before the agent does, and that session's memory with it."""
    note, text = plan.note, plan.facts[n].text
    session = note.provenance.session
    for row in rows:
        if row.status != "current" or not trusted(row.source) or not says_so(tools, row.text, text):
            continue
        theirs = _session(row.origin)
        if row.source == USER:
            yield -1 - n, theirs
        elif session and theirs and theirs != session and _independent(tools, note, row):
            yield from ((-1 - n, theirs), (row.id, session))


def _independent(tools: Tools, note: Note, row: MemoryRow) -> bool:
    """Whether a note was made at another sitting than a memory, in a session that had not been shown it."""
    if not apart(note.queued_at, row.valid_from):
        return False
    shown = tools.reader.shown_in(note.provenance.session, [row.id])
    return not (shown or row.uid in note.shown or row.note in note.shown)


def _session(origin: str) -> str:
    """Return the session that an origin names, '' for one that names a place."""
    return "" if origin.startswith("@") else origin.partition(":")[2]


def says_so(tools: Tools, said: str, text: str) -> bool:
    """Whether what was `said` says all that `text` does: in its words, or as the judge reads its likest sentences."""
    if says([said], text, _ALL) and faithful(text, said) and in_order(text, said):
        return True
    likest = original(text, said)
    if not likest or not numbers(text) <= numbers(said) or respelled(text, said):
        return False
    there, back = tools.judge.relations([(text, likest), (likest, text)])
    return min(there.same, back.same) >= SAME and max(there.ends, back.ends) < CHANGED
