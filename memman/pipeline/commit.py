"""Store a note's receipt, memories, verdicts, edges and log in one transaction, or nothing."""

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from memman.belief import (
    AHEAD,
    BEARS_OUT,
    CONTRARY,
    ENDING,
    ENDS,
    RECORDED,
    SAID,
    STANDS_BEFORE,
    USER,
    Statement,
    allowed,
    confirms,
    effect,
    lowest,
    vouches,
)
from memman.embed.base import planes
from memman.model.records import EVERYWHERE, Draft, Edge, Note, Scope, Verdict
from memman.model.text import without_questions
from memman.model.vocabulary import BUILTIN, RECORD, REPLACED
from memman.pipeline.plan import Outcome, Plan, Tools
from memman.pipeline.vectors import EVERYTHING, fingerprint, index, made_by, put
from memman.store import records
from memman.store.sqlite import index as rows_of
from memman.store.sqlite import undo
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit

# A fact's vectors: embedder number, cell, planes and squared length of each.
_Packed = tuple[tuple[int, int, bytes, int], ...]
# What closes a memory, for good or for a while.
_CLOSING = (ENDS, STANDS_BEFORE)
_OBJECTED = "what the user objected to"


class _Effect(NamedTuple):
    """What comes of a verdict about a memory, to which the fact may give way, being the older of the two."""

    verdict: Verdict
    memory: int
    gives_way: bool
    what: str


async def commit(tools: Tools, plan: Plan) -> Plan:
    """Store the note's facts; a note whose receipt is there already changes nothing."""
    assert tools.store is not None, "only commit is given a store"  # noqa: S101 - the runner's own contract
    now = tools.clock()
    with tools.store.unit() as unit:
        outcome = _stored(tools, tools.store, unit, plan, now)
        if not outcome.repeated:
            _take_back(tools, unit, _corrected(tools, unit, plan, now), now)
    return replace(plan, outcome=outcome)


def _stored(tools: Tools, store: SqliteStore, unit: SqliteUnit, plan: Plan, now: int) -> Outcome:
    # What was only in flight when the verdict fell is stored by now, or never was: then the verdict is void.
    at = {v.memory: row for v in plan.verdicts for row in tools.reader.located([v.memory])}
    known = _known(tools.reader, plan, at)
    effects = list(_effects(tools.reader, plan, at, known))
    ended = {one.verdict.memory for one in effects if one.what == ENDS and not one.gives_way}
    fresh = [
        n
        for n, fact in enumerate(plan.facts)
        if n not in known and not plan.weights[n].left_out and (not fact.left_of or fact.left_of in ended)
    ]
    outcome = "stored" if fresh else "known" if known else "nothing"
    if not unit.receipt(plan.note, now, outcome, len(fresh), tools.drain, json.dumps(_models(tools, plan))):
        return Outcome(repeated=True)
    rows: dict[int, int] = dict(known)
    packed = _packed(tools, store, unit, plan)
    for n in fresh:
        draft = _draft(tools.reader, plan, n, packed[n], [one for one in effects if one.verdict.fact == n])
        rows[n] = unit.add(draft, now, held=bool(draft.fact.held))
        _date(unit, plan, n, rows[n], now)
        unit.tie(rows[n], plan.weights[n].files, now)
    _confirm(tools, unit, plan, known, now)
    _bear_out(unit, plan, fresh, rows, now)
    index(unit, tools.local, store.cell, [rows[n] for n in fresh if not plan.facts[n].held])
    if plan.about is not None:
        put(unit, store.cell, fingerprint(tools.judge), {rows[n]: plan.about[n] for n in fresh})
    if typed := next(filter(None, (plan.weights[n].typed for n in fresh)), ""):
        rows_of.keep_typed(unit.db, plan.note.uid, typed)
    retired = _carry_out(unit, plan, (one for one in effects if one.what == ENDS), rows, now)
    retired += _replace_late(tools, unit, plan, rows, at, now)
    _carry_out(unit, plan, (one for one in effects if one.what != ENDS), rows, now)
    unit.link(_edges(plan, rows, known), now)
    return Outcome(tuple(plan.weights[n].uid for n in fresh), retired, len(known))


def _bear_out(unit: SqliteUnit, plan: Plan, fresh: Sequence[int], rows: Mapping[int, int], now: int) -> None:
    """Keep how each fact was said, whose session bears out what, and which commit says what is on record."""
    whence = plan.note.provenance
    for n in fresh:
        for kind in plan.weights[n].belief.evidence:
            unit.bear_out(rows[n], kind, whence.session, now)
    for n, row in rows.items() if plan.note.channel == RECORD else ():
        if not plan.facts[n].left_of:
            unit.bear_out(row, RECORDED, whence.commit, now)
    for memory, session in plan.borne_out:
        if memory >= 0 or -1 - memory in rows:
            unit.bear_out(memory if memory >= 0 else rows[-1 - memory], SAID, session, now)


def _corrected(tools: Tools, unit: SqliteUnit, plan: Plan, now: int) -> Iterator[int]:
    """Have what the user said in place of a memory that they object to supersede it; yield the others."""
    reader = tools.reader
    current = reader.filtered((memory for memory, _ in plan.objections), EVERYTHING)
    for memory, instead in plan.objections:
        if memory not in current:
            continue
        rows = () if instead is None else reader.located([plan.weights[instead].uid])
        if not any(unit.supersede(memory, row, now, plan.note.queued_at, "the user corrected it") for row in rows):
            yield memory


def _take_back(tools: Tools, unit: SqliteUnit, memories: Iterable[int], now: int) -> None:
    """Undo the notes of memories that the user objects to, where nothing took their place, under an id of its own."""
    rows = tools.reader.rows([*memories]).values()
    if not rows:
        return
    notes = sorted({row.note for row in rows})
    with unit.other_act(now):
        changed = undo.take_back(unit, notes, now, _OBJECTED)
        statuses = {one.uid: one.was(records.STATUS)[1]["status"] for one in changed if one.was(records.STATUS)[1]}
        touched = [row for row in (rows_of.row_of(unit.db, uid) for uid in statuses) if row]
        unit.settle(touched)
        again = [*statuses.values()].count("current")
        did = f"{len(rows)} undone" + (f", {again} current again" if again else "")
        undo.keep(unit, now, _OBJECTED, did, acts=notes)


def _confirm(tools: Tools, unit: SqliteUnit, plan: Plan, known: Mapping[int, int], now: int) -> None:
    """Record that what is known was said again: in a second repository, so that it holds everywhere.

    An agent does not say how long what people stand behind holds.
    """
    reader = tools.reader
    current = reader.filtered(known.values(), EVERYTHING)
    for n, memory in known.items():
        weight = plan.weights[n]
        here = EVERYTHING.having(scopes=frozenset[int]().union(*map(reader.holding, (*weight.kin, ""))))
        elsewhere = memory in current - reader.filtered([memory], here)
        if elsewhere and not plan.facts[n].source:
            unit.move(memory, EVERYWHERE, now)
        stands, mine = reader.statements([memory])[memory], weight.belief.source
        if not plan.facts[n].source and confirms(mine, stands.source):
            unit.confirm(memory, plan.note, now)
            if mine == USER or not stands.upheld:
                _date(unit, plan, n, memory, now)
            unit.tie(memory, weight.files, now)


def _date(unit: SqliteUnit, plan: Plan, n: int, memory: int, now: int) -> None:
    """Keep until when a fact holds."""
    ends_at = plan.facts[n].ends_at
    if ends_at is not None:
        unit.expire(memory, ends_at, now)


def _models(tools: Tools, plan: Plan) -> dict[str, str]:
    """Return by stage the models that answered, the built-in ones only where they stood in for another."""
    embedder = tools.embedder.fingerprint
    answered = {} if tools.llm.provider == BUILTIN else dict(plan.models)
    embedded = plan.facts and embedder.provider != BUILTIN
    return answered | ({"embed": f"{embedder.provider}/{embedder.model}"} if embedded else {})


def _known(reader: SqliteReader, plan: Plan, at: Mapping[str, int]) -> dict[int, int]:
    """Return the facts that reconcile found stored already, each with its memory, where that still holds.

    What was so once may be said again, and is so again, but not by an agent that repeats it. What a user says is no
    news only where it rests on more than a page or a tool: their word is stored beside it.
    """
    return {
        v.fact: memory
        for v in plan.verdicts
        if v.action == "NONE"
        and (memory := at.get(v.memory)) is not None
        and (plan.facts[v.fact].source or reader.filtered([memory], EVERYTHING))
        and not vouches(plan.weights[v.fact].belief, reader.statements([memory])[memory])
    }


def _believed(plan: Plan, n: int, known: Statement | None) -> Statement:
    """Return what a fact, which may be `known` as a memory already, is believed by with what bears it out."""
    mine = plan.weights[n].belief
    evidence = [*mine.evidence, *(SAID for memory, _ in plan.borne_out if memory == -1 - n)]
    if known is None:
        return Statement(mine.source, evidence, ends_at=mine.ends_at, place=mine.place)
    evidence += [kind for kind in known.evidence if kind in BEARS_OUT]
    source, ends_at = lowest(mine.source, known.source), mine.ends_at or known.ends_at
    return Statement(source, evidence, ends_at=ends_at, place=mine.place, protected=known.protected)


def _effects(reader: SqliteReader, plan: Plan, at: Mapping[str, int], known: Mapping[int, int]) -> Iterator[_Effect]:
    """Yield what comes of the verdicts, and of what the note itself bears out.

    What is said at the same moment is of one list, and ends nothing of it.
    """
    note, offered = plan.note, [candidate for found in plan.candidates for candidate in found]
    listed = [c.uid for c in offered if (c.source, c.valid_from) == (note.provenance.source, note.queued_at)]
    # In order, a later time only says that the clock was turned back.
    newer = [c.uid for c in offered if c.valid_from > note.queued_at] if note.overtaken or reader.others() else []
    memories = reader.statements(at.values())
    for row in {memory for memory, _ in plan.borne_out} & memories.keys():
        memories[row].evidence = (*memories[row].evidence, SAID)
    for verdict in plan.verdicts:
        n, memory = verdict.fact, at.get(verdict.memory)
        if memory is None or (verdict.action != "NONE" and verdict.memory in listed):
            continue
        fact = _believed(plan, n, memories[known[n]] if n in known else None)
        if verdict.action == "NONE" and not vouches(fact, memories[memory]):
            continue
        gives_way = verdict.memory in newer
        new, old = (memories[memory], fact) if gives_way else (fact, memories[memory])
        asked, part = bool(note.hints.replaces), bool(verdict.rest)
        if what := effect(verdict.action, new, old, asked=asked, part=part):
            yield _Effect(verdict, memory, gives_way, what)


def _carry_out(unit: SqliteUnit, plan: Plan, effects: Iterable[_Effect], rows: Mapping[int, int], now: int) -> int:
    """Do what the facts do to memories, or these to them; return how many were retired."""
    retired = 0
    for verdict, memory, gives_way, what in effects:
        old, new = (rows[verdict.fact], memory) if gives_way else (memory, rows[verdict.fact])
        if old != new:
            retired += unit.carry_out(what, old, new, now, plan.note.queued_at, verdict.reason)
    return retired


def _replace_late(
    tools: Tools, unit: SqliteUnit, plan: Plan, rows: dict[int, int], at: dict[str, int], now: int
) -> int:
    """Settle a replacement that an outage let through before the note it replaces.

    The replacement leaves word in the store; the other note finds it, and is stored as replaced.
    """
    retired = 0
    word = tools.reader.meta(REPLACED + plan.note.uid)
    shown = {n: row for n, row in rows.items() if not plan.facts[n].held}
    if word:
        heir, _, at_ = word.partition(" ")
        if new := rows_of.row_of(unit.db, heir):  # it was not purged meanwhile
            retired = sum(unit.supersede(row, new, now, int(at_), "replaced on request") for row in shown.values())
        unit.set_meta(REPLACED + plan.note.uid, None)
    old = plan.note.hints.replaces
    # Whose word the other note is nobody knows yet: only what may retire anybody's leaves word.
    if old and shown and not at and allowed(plan.weights[min(shown)].belief.source, AHEAD):
        unit.set_meta(REPLACED + old, f"{unit.uid(shown[min(shown)])} {plan.note.queued_at}")
    return retired


def _draft(reader: SqliteReader, plan: Plan, n: int, vectors: _Packed, effects: Sequence[_Effect]) -> Draft:
    """Return a fact as it is stored, given what it does to memories: what is left of one, as that was said."""
    if plan.facts[n].left_of:
        return _rest(reader, plan, n, vectors)
    note = plan.note
    return Draft(
        uid=plan.weights[n].uid,
        note=note.uid,
        fact=plan.facts[n],
        source=plan.weights[n].belief.source,
        origin=note.provenance.origin,
        valid_from=note.queued_at,
        vectors=vectors,
        scope=_holds_for(reader, plan, n, effects),
        visibility=note.hints.visibility or _visibility(reader, note, effects),
    )


def _holds_for(reader: SqliteReader, plan: Plan, n: int, effects: Sequence[_Effect]) -> Scope:
    """Return what a fact holds for, unless the caller says so: everywhere if it ends what does; or as what it replaces.

    What it only contradicts makes it hold nowhere else.
    """
    own, target = plan.weights[n].scope, plan.note.hints.replaces
    if plan.weights[n].asked:
        return own
    ended = {one.memory for one in effects if one.what in _CLOSING and not one.gives_way}
    replaced = [row for row, _ in reader.found(target)] if target else []
    scope = _scope(reader, replaced[0]) if replaced else own
    if ended and len(reader.scope_of(ended)) < len(ended):
        scope = EVERYWHERE
    against = any(one.what in CONTRARY for one in effects)
    return own if against and scope == EVERYWHERE else scope


def _visibility(reader: SqliteReader, note: Note, effects: Sequence[_Effect]) -> str:
    """Return for whom a fact is: as what it ends, where that is shared and ours or asked for."""
    closed = [one for one in effects if one.what in _CLOSING and one.verdict.action in ENDING and not one.gives_way]
    ours = reader.role()
    before = reader.authorship([one.memory for one in closed]).values() if ours and closed else ()
    asked = bool(note.hints.replaces)
    return "shared" if any(one.visibility == "shared" and (asked or one.author == ours) for one in before) else ""


def _rest(reader: SqliteReader, plan: Plan, n: int, vectors: _Packed) -> Draft:
    """Return what is left of a memory as it was said: by the same, on the same day, of the same weight."""
    fact = plan.facts[n]
    (memory,) = reader.located([fact.left_of])
    row = reader.rows([memory])[memory]
    names = [*fact.entities, *json.loads(row.entities)]
    fact = replace(
        fact,
        category=row.category,
        importance=row.importance,
        entities=tuple(dict.fromkeys(name for name in names if name.casefold() in fact.text.casefold())),
        keywords=tuple(without_questions(json.loads(row.keywords))),
    )
    uid, note, scope = plan.weights[n].uid, plan.note, _scope(reader, memory)
    visibility = note.hints.visibility
    return Draft(uid, note.uid, fact, row.source, row.origin, row.valid_from, vectors, scope, visibility)


def _scope(reader: SqliteReader, memory: int) -> Scope:
    return Scope(*reader.scope_of([memory]).get(memory, ()))


def _packed(tools: Tools, store: SqliteStore, unit: SqliteUnit, plan: Plan) -> list[_Packed]:
    """Return each fact's vector by the configured embedder as a store keeps it; the built-in ones need context."""
    if tools.embedder is tools.local or plan.vectors is None:
        return [() for _ in plan.facts]
    number = unit.embedder(made_by(tools.embedder, plan.vectors))
    return [((number, store.cell(number, vector), *planes(vector)),) for vector in plan.vectors]


def _edges(plan: Plan, rows: dict[int, int], known: Container[int]) -> list[Edge]:
    """Put row ids in place of fact numbers; a fact that was known already brings only causal news."""
    kept = []
    for edge in plan.edges:
        facts = {-1 - place for place in (edge.src, edge.dst) if place < 0}
        held = any(plan.facts[n].held for n in facts)
        if held or not facts <= rows.keys() or (edge.kind != "causal" and any(n in known for n in facts)):
            continue
        src, dst = (rows[-1 - place] if place < 0 else place for place in (edge.src, edge.dst))
        if src != dst:
            kept.append(Edge(edge.kind, src, dst, edge.weight, edge.detail))
    return kept
