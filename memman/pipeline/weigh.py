"""What a note's words say of its facts before they are stored: commit takes this as it is, and reads no word again."""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import replace

from memman.belief import AGENT, PROMPTED, REPORTED, USER, Statement, apart, trusted
from memman.model.records import Note
from memman.model.text import answering, said
from memman.model.uid import memory_uid
from memman.pipeline.enrich import files
from memman.pipeline.heard import Heard, Said
from memman.pipeline.known import waiting
from memman.pipeline.objection import objected
from memman.pipeline.plan import Objection, Piece, Plan, Tools, Weight
from memman.pipeline.sameness import says_so
from memman.pipeline.scope import asked, place, scope
from memman.pipeline.trust import bounded, prompted, reported, whose
from memman.store import MemoryRow
from memman.store.sqlite import sessions

# Memories of the note's own session that a user's words are compared with: an agent notes down before a turn ends.
_NEWEST = 16


async def weigh(tools: Tools, plan: Plan) -> Plan:
    """Find out whose word each fact is, where it holds, what bears it out, and what the user objects to."""
    weights = await _weights(tools, plan)
    facts = tuple(bounded(fact, one.belief.source) for fact, one in zip(plan.facts, weights, strict=True))
    plan = replace(plan, facts=facts, weights=tuple(weights), about=tools.judge.about([fact.text for fact in facts]))
    return replace(plan, borne_out=_borne_out(tools, plan), objections=_objections(tools, plan))


async def _weights(tools: Tools, plan: Plan) -> list[Weight]:
    note = plan.note
    named = await asyncio.to_thread(files, note, plan.facts)
    typed = _typed(tools, note) if plan.facts else ""
    waits = waiting(tools, plan)
    return [
        Weight(
            uid=memory_uid(note.uid, n),
            belief=_belief(plan, n),
            scope=scope(note, fact),
            asked=bool(asked(note)),
            kin=tuple(tools.kin(place(note, fact))),
            files=named[n],
            typed="" if fact.left_of or said(fact.text) in typed else typed,
            # What was extracted, and journaled, before a purge stays out too.
            left_out=n in waits or tools.gone(note, fact.text),
        )
        for n, fact in enumerate(plan.facts)
    ]


def _belief(plan: Plan, n: int) -> Statement:
    """Return what a fact is believed by, as far as the note tells."""
    note, fact = plan.note, plan.facts[n]
    ways = {PROMPTED: prompted(note, fact), REPORTED: reported(note, fact)}
    mine = whose(note, fact, plan.candidates[n] if plan.candidates else ())
    here = bool(fact.scope) or None if scope(note, fact).repository else False
    return Statement(mine, [way for way, holds in ways.items() if holds], ends_at=fact.ends_at, place=here)


def _typed(tools: Tools, note: Note) -> str:
    """Return what the user typed in the turn that a note is from, '' for one that is from none."""
    if note.channel == "noted":
        return next(reversed(Said.of(note, tools.judge).typed), "")
    if note.channel not in {"turn", "watched"}:
        return ""
    return Heard.of(note, tools.judge).spoken.typed[0]


def _borne_out(tools: Tools, plan: Plan) -> tuple[Piece, ...]:
    """Return what the note bears out of agents' words, and what bears out its own."""
    reader = tools.reader
    near = reader.located({c.uid for found in plan.candidates for c in found})
    near |= set(reader.newest_of(plan.note.provenance.origin, _NEWEST))
    rows = reader.rows(near)
    doubtful = [rows[memory] for memory in sorted(reader.unconfirmed(near))]
    mine = _words(tools, plan.note) if doubtful else ""
    pieces = {
        (row.id, plan.note.provenance.session) for row in doubtful if mine and says_so(tools.judge, mine, row.text)
    }
    for n, fact in enumerate(plan.facts):
        if not fact.held and plan.weights[n].belief.source == AGENT:
            pieces |= set(_by_others(tools, plan, n, rows.values()))
    return tuple(sorted(pieces))


def _words(tools: Tools, note: Note) -> str:
    """Return what a note's user said in their own words."""
    if note.provenance.source != USER:
        return ""
    if note.channel == "note":
        return note.text
    return "" if note.channel == "noted" else Heard.of(note, tools.judge).stated


def _by_others(tools: Tools, plan: Plan, n: int, rows: Iterable[MemoryRow]) -> Iterator[Piece]:
    """Yield what the user, or another session, said before the agent does, and that session's memory with it."""
    note, text = plan.note, plan.facts[n].text
    session = note.provenance.session
    for row in rows:
        if row.status != "current" or not trusted(row.source) or not says_so(tools.judge, row.text, text):
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
    shown = {one["session"] for one in sessions.of_memory(tools.reader.db, row.id)}
    return not (note.provenance.session in shown or row.uid in note.shown or row.note in note.shown)


def _session(origin: str) -> str:
    """Return the session that an origin names, '' for one that names a place."""
    return "" if origin.startswith("@") else origin.partition(":")[2]


def _objections(tools: Tools, plan: Plan) -> tuple[Objection, ...]:
    """Return each memory that the user objects to, with the fact that says what they say in its place, if one does."""
    rows = tools.reader.rows(objected(tools, plan.note))
    return tuple((memory, _instead(plan, row.text)) for memory, row in rows.items())


def _instead(plan: Plan, line: str) -> int | None:
    facts = ((n, fact.text) for n, fact in enumerate(plan.facts) if not fact.held)
    return next((n for n, text in facts if text == answering(said(text), line)), None)
