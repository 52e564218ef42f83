"""All of a note or nothing: receipt first, then memories, verdicts, edges and log, in one transaction."""

import asyncio
import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace

from memman.embed.codes import planes
from memman.model.answer import answering, said
from memman.model.records import EVERYWHERE, Draft, Edge, Note, Scope
from memman.model.text import without_questions
from memman.model.trust import AGENT, PROMPTED, REPORTED, USER
from memman.model.uid import memory_uid
from memman.model.vocabulary import BUILTIN, PROTECTED, REPLACED
from memman.pipeline.about_shown import objected
from memman.pipeline.context import index
from memman.pipeline.cosine_stats import CosineStats, key
from memman.pipeline.embed import made_by
from memman.pipeline.evidence import Piece, borne_out, typed_in
from memman.pipeline.freshness import files
from memman.pipeline.judged import EVERYTHING, put
from memman.pipeline.plan import Outcome, Plan, Tools
from memman.pipeline.proposed import waiting
from memman.pipeline.scope import around, ends, scope
from memman.pipeline.scope import asked as asked_scope
from memman.pipeline.trust import bounded, may_confirm, may_touch, prompted, reported, vouches, whose
from memman.pipeline.upheld import ENDING, Found, Pair, Standing, contradict, upheld
from memman.store import outlasts, records
from memman.store.sqlite import index as rows_of
from memman.store.sqlite import typed, undo
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unconfirmed import SAID
from memman.store.sqlite.unit import SqliteUnit

# A fact's vectors: embedder number, cell, planes and squared length of each.
_Packed = tuple[tuple[int, int, bytes, int], ...]
# Verdicts that only mark a memory.
_MARKING = ("MAYBE", "MEANWHILE")
_OBJECTED = "what the user objected to"


@dataclass(frozen=True, slots=True)
class _Ready:
    """What is found out before the transaction, so that it is short: `waiting` facts are said by what waits already."""

    files: Sequence[Mapping[str, str]]
    pieces: Sequence[Piece]
    objected: Sequence[int]
    typed: str
    waiting: Container[int]


async def commit(tools: Tools, plan: Plan) -> Plan:
    """Store the note's facts; a note whose receipt is there already changes nothing."""
    assert tools.store is not None, "only commit is given a store"  # noqa: S101 - the runner's own contract
    now = tools.clock()
    if tools.judge:
        tools.judge.about([fact.text for fact in plan.facts])  # remembered, so that the transaction is short
    ready = _Ready(
        await asyncio.to_thread(files, plan.note, plan.facts),
        borne_out(tools, plan),
        objected(tools, plan.note),
        typed_in(tools, plan.note) if plan.facts else "",
        waiting(tools, plan),
    )
    with tools.store.unit() as unit:
        outcome = _stored(tools, tools.store, unit, plan, ready, now)
        if not outcome.repeated:
            _take_back(tools, unit, _corrected(tools, unit, plan, ready.objected, now), now)
    return replace(plan, outcome=outcome)


def _stored(tools: Tools, store: SqliteStore, unit: SqliteUnit, plan: Plan, ready: _Ready, now: int) -> Outcome:
    # What was only in flight when the verdict fell is stored by now, or never was: then the verdict is void.
    at = {v.memory: row for v in plan.verdicts for row in tools.reader.located([v.memory])}
    known = _known(tools.reader, plan, at)
    standing = Standing(tools.reader, plan, known, ready.pieces, lambda n: _whose(plan, n))
    found = _meanwhile(tools.reader, plan, known, _admitted(tools.reader, plan, at))
    admitted, against = standing.parted(found)
    ended = {verdict.memory for verdict, _, gives_way in admitted if verdict.action not in _MARKING and not gives_way}
    # What was extracted, and journaled, before a purge stays out too.
    fresh = [
        n
        for n, fact in enumerate(plan.facts)
        if n not in known
        and n not in ready.waiting
        and (not fact.left_of or fact.left_of in ended)
        and not tools.gone(plan.note, fact.text)
    ]
    outcome = "stored" if fresh else "known" if known else "nothing"
    if not unit.receipt(plan.note, now, outcome, len(fresh), tools.drain, json.dumps(_models(tools, plan))):
        return Outcome(repeated=True)
    rows: dict[int, int] = dict(known)
    packed = _packed(tools, store, unit, plan)
    for n, draft in _drafts(tools.reader, plan, {n: packed[n] for n in fresh}, admitted, against):
        rows[n] = unit.add(draft, now, held=bool(draft.fact.held))
        _date(unit, plan, n, rows[n], now)
        unit.tie(rows[n], ready.files[n], now)
    _confirm(tools, unit, plan, known, ready.files, now)
    for n in fresh:
        ways = {PROMPTED: prompted, REPORTED: reported}
        for kind in (kind for kind, holds in ways.items() if holds(plan.note, plan.facts[n])):
            unit.bear_out(rows[n], kind, plan.note.provenance.session, now)
    for memory, session in ready.pieces:
        if memory >= 0 or -1 - memory in rows:
            unit.bear_out(memory if memory >= 0 else rows[-1 - memory], SAID, session, now)
    index(unit, tools.local, store.cell, [rows[n] for n in fresh if not plan.facts[n].held])
    if tools.judge:
        put(unit, store.cell, tools.judge, {rows[n]: plan.facts[n].text for n in fresh})
    if ready.typed:
        told = [n for n in fresh if not plan.facts[n].left_of and said(plan.facts[n].text) not in ready.typed]
        typed.keep(unit.db, [rows[n] for n in told], ready.typed)
    judged = list(_judged(admitted, rows))
    retired = _retire(unit, plan, judged, now) + _replace_late(tools, unit, plan, rows, at, now)
    _doubt(tools.reader, unit, judged, now)
    contradict(unit, list(_judged(against, rows)), now)
    _link(unit, plan, rows, known, now)
    if plan.samples and plan.vectors is not None:
        fingerprint = made_by(tools.embedder, plan.vectors)
        stats = CosineStats.of(tools.reader, fingerprint).with_samples(plan.samples)
        unit.set_meta(key(fingerprint), json.dumps(astuple(stats)))
    return Outcome(tuple(memory_uid(plan.note.uid, n) for n in fresh), retired, len(known))


def _corrected(tools: Tools, unit: SqliteUnit, plan: Plan, memories: Sequence[int], now: int) -> Iterator[int]:
    """Have what the user said in place of a memory that they object to supersede it; yield the other `memories`."""
    reader = tools.reader
    current = reader.rows(reader.filtered(memories, EVERYTHING))
    new = {fact.text: n for n, fact in enumerate(plan.facts) if not fact.held}
    for memory, line in current.items():
        instead = next((n for text, n in new.items() if text == answering(said(text), line.text)), None)
        rows = () if instead is None else reader.located([memory_uid(plan.note.uid, instead)])
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


def _confirm(
    tools: Tools,
    unit: SqliteUnit,
    plan: Plan,
    known: Mapping[int, int],
    named: Sequence[Mapping[str, str]],
    now: int,
) -> None:
    """Record that what is known was said again: in a second repository, so that it holds everywhere.

    An agent does not say how long what people stand behind holds.
    """
    reader = tools.reader
    current = reader.filtered(known.values(), EVERYTHING)
    for n, memory in known.items():
        elsewhere = memory in current - reader.filtered([memory], around(tools, plan.note, plan.facts[n]))
        if elsewhere and not plan.facts[n].source:
            unit.move(memory, EVERYWHERE, now)
        if may_confirm(plan.facts[n], _whose(plan, n), _source(reader, memory)):
            unit.confirm(memory, plan.note, now)
            if _whose(plan, n) == USER or not upheld(reader, memory):
                _date(unit, plan, n, memory, now)
            unit.tie(memory, named[n], now)


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


def _known(reader: SqliteReader, plan: Plan, at: dict[str, int]) -> dict[int, int]:
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
        and not _vouched(reader, plan, v.fact, memory)
    }


def _vouched(reader: SqliteReader, plan: Plan, n: int, memory: int) -> bool:
    """Whether a user says themselves what nobody did before, or everywhere what an agent said in one place."""
    mine, other = _whose(plan, n), _source(reader, memory)
    everywhere = scope(plan.note, plan.facts[n]) == EVERYWHERE
    return vouches(mine, other) or ((mine, other) == (USER, AGENT) and everywhere and bool(reader.scope_of([memory])))


def _whose(plan: Plan, n: int) -> str:
    return whose(plan.note, plan.facts[n], plan.candidates[n] if plan.candidates else ())


def _source(reader: SqliteReader, memory: int) -> str:
    return reader.rows([memory])[memory].source


def _admitted(reader: SqliteReader, plan: Plan, at: dict[str, int]) -> Iterator[Found]:
    """Yield (verdict, memory, whether the fact gives way to it, being the older) of what may be done.

    What is surely about one repository does not end what holds everywhere, but may be an exception to it.

    Nothing touches what a more trusted source said but an agent, of whose word `Standing` has the last; what a user may
    have pasted puts it in doubt at most. Nothing but a replacement that somebody asked for touches what is protected.
    What is said at the same moment is of one list, and ends nothing of it; a note that is asked about again is not.
    """
    together = {
        c.uid
        for found in plan.candidates
        for c in found
        if c.source == plan.note.provenance.source and c.valid_from == plan.note.queued_at and not plan.note.again
    }
    newer = {c.uid for found in plan.candidates for c in found if c.valid_from > plan.note.queued_at}
    if not (plan.note.overtaken or reader.others()):
        newer = set()  # in order, a later time only says that the clock was turned back
    held = reader.scope_of(at.values())
    for verdict in plan.verdicts:
        n, memory = verdict.fact, at.get(verdict.memory)
        if verdict.memory in together and verdict.action != "NONE":
            continue
        if memory is None or (verdict.action == "NONE" and not _vouched(reader, plan, n, memory)):
            continue
        mine, other = _whose(plan, n), _source(reader, memory)
        may_be_pasted = prompted(plan.note, plan.facts[n])
        gives_way = verdict.memory in newer
        if gives_way:
            mine, other, may_be_pasted = other, mine, False
        elif reader.meta(PROTECTED + verdict.memory) and not plan.note.hints.replaces and mine != AGENT:
            continue
        if may_touch(mine, other) or (mine == AGENT and not may_be_pasted):
            asked = gives_way or plan.note.hints.replaces or verdict.action not in ENDING
            alone = reported(plan.note, plan.facts[n])
            ending = asked or (not alone and ends(plan.note, plan.facts[n], memory not in held))
            yield verdict if ending else replace(verdict, action="MAYBE"), memory, gives_way
        elif may_be_pasted and verdict.action in ENDING:
            yield replace(verdict, action="MAYBE"), memory, gives_way


def _meanwhile(
    reader: SqliteReader, plan: Plan, known: Mapping[int, int], admitted: Iterable[Found]
) -> Iterator[Found]:
    """Have what would end a memory that holds longer than it does only stand before it, unless somebody asked for it.

    What a model says in the place of the judge is no newer than that.
    """
    again = {uid for _, uid in reader.found(plan.note.again)} if plan.note.again else set()
    for verdict, memory, gives_way in admitted:
        stored = known.get(verdict.fact, 0)
        ends = reader.ends([memory, stored])
        new, old = plan.facts[verdict.fact].ends_at or ends.get(stored), ends.get(memory)
        longer = outlasts(new, old) if gives_way else outlasts(old, new)
        asked = plan.note.hints.replaces or verdict.memory in again
        if verdict.action in ENDING and longer and not asked:
            marked = replace(verdict, action="MEANWHILE", reason=f"{verdict.reason}, but only for a while")
            yield marked, memory, gives_way
        else:
            yield verdict, memory, gives_way


def _judged(admitted: Iterable[Found], rows: dict[int, int]) -> Iterator[Pair]:
    """Yield (verdict, older, newer) of what gives way. Where the memory is the newer of the two, that is the fact."""
    for verdict, memory, gives_way in admitted:
        old, new = (rows[verdict.fact], memory) if gives_way else (memory, rows[verdict.fact])
        if old != new:
            yield verdict, old, new


def _retire(unit: SqliteUnit, plan: Plan, judged: Sequence[Pair], now: int) -> int:
    """Close what is out of date."""
    return sum(
        unit.supersede(old, new, now, plan.note.queued_at, verdict.reason)
        for verdict, old, new in judged
        if verdict.action not in _MARKING
    )


def _doubt(reader: SqliteReader, unit: SqliteUnit, judged: Sequence[Pair], now: int) -> None:
    """Mark what is maybe out of date, and what stands behind something for a while; no mark gives way to a shorter."""
    for verdict, old, new in judged:
        if verdict.action in _MARKING and not _marked_for_longer(reader, old, new):
            unit.doubt(old, new, now, verdict.reason)


def _marked_for_longer(reader: SqliteReader, old: int, new: int) -> bool:
    marked = next(iter(reader.newer([reader.rows([old])[old].uid]).values()), None)
    if marked is None:
        return False
    ends = reader.ends([marked[0], new])
    return outlasts(ends.get(marked[0]), ends.get(new))


def _replace_late(
    tools: Tools, unit: SqliteUnit, plan: Plan, rows: dict[int, int], at: dict[str, int], now: int
) -> int:
    """Settle a replacement that an outage let through before the note it replaces.

    The replacement leaves word in the store; the other note finds it, and is
    stored as replaced.
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
    if old and shown and not at and _whose(plan, min(shown)) == USER:
        unit.set_meta(REPLACED + old, f"{unit.uid(shown[min(shown)])} {plan.note.queued_at}")
    return retired


def _ending_personal(reader: SqliteReader, plan: Plan, admitted: Iterable[Found]) -> Iterator[int]:
    """Yield the facts that end what holds everywhere: they hold everywhere too, unless the caller says otherwise."""
    for verdict, memory, gives_way in admitted:
        if verdict.action != "MAYBE" and not (gives_way or asked_scope(plan.note) or reader.scope_of([memory])):
            yield verdict.fact


def _visibility(reader: SqliteReader, plan: Plan, n: int, admitted: Iterable[Found]) -> str:
    """Return for whom a fact is: as the caller says, or as what it ends, where that is shared and ours or asked for."""
    if plan.note.hints.visibility:
        return plan.note.hints.visibility
    ended = [memory for verdict, memory, gives_way in admitted
             if verdict.fact == n and verdict.action in {*ENDING, "MEANWHILE"} and not gives_way]  # fmt: skip
    ours = reader.role()
    before = reader.authorship(ended).values() if ours and ended else ()
    asked = bool(plan.note.hints.replaces)
    return "shared" if any(one.visibility == "shared" and (asked or one.author == ours) for one in before) else ""


def _drafts(
    reader: SqliteReader, plan: Plan, packed: Mapping[int, _Packed], admitted: Sequence[Found], against: Sequence[Found]
) -> Iterator[tuple[int, Draft]]:
    """Yield the drafts of facts, by their numbers, given their vectors: where each holds, and for whom it is."""
    everywhere = set(_ending_personal(reader, plan, admitted))
    for n, vectors in packed.items():
        draft = _kept_here(_draft(reader, plan, n, vectors, everywhere=n in everywhere), plan, n, against)
        yield n, replace(draft, visibility=_visibility(reader, plan, n, admitted))


def _draft(reader: SqliteReader, plan: Plan, n: int, vectors: _Packed, *, everywhere: bool) -> Draft:
    note, source = plan.note, _whose(plan, n)
    if plan.facts[n].left_of:
        return _rest(reader, plan, n, vectors)
    return Draft(
        uid=memory_uid(note.uid, n),
        note=note.uid,
        fact=bounded(plan.facts[n], source),
        source=source,
        origin=note.provenance.origin,
        valid_from=note.queued_at,
        vectors=vectors,
        scope=EVERYWHERE if everywhere else _replaced_scope(reader, note) or scope(note, plan.facts[n]),
    )


def _kept_here(draft: Draft, plan: Plan, n: int, against: Iterable[Found]) -> Draft:
    """Return a draft that takes over no scope beyond its own from what it only contradicts."""
    if draft.scope != EVERYWHERE or all(verdict.fact != n for verdict, *_ in against):
        return draft
    return replace(draft, scope=scope(plan.note, plan.facts[n]))


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
    uid = memory_uid(plan.note.uid, n)
    return Draft(uid, plan.note.uid, fact, row.source, row.origin, row.valid_from, vectors, _scope(reader, memory))


def _replaced_scope(reader: SqliteReader, note: Note) -> Scope | None:
    """Return what the memory holds for that a note replaces, None where it replaces none or says so itself."""
    if asked_scope(note) or not note.hints.replaces:
        return None
    rows = [row for row, _ in reader.found(note.hints.replaces)]
    return _scope(reader, rows[0]) if rows else None


def _scope(reader: SqliteReader, memory: int) -> Scope:
    return Scope(*reader.scope_of([memory]).get(memory, ()))


def _packed(tools: Tools, store: SqliteStore, unit: SqliteUnit, plan: Plan) -> list[_Packed]:
    """Return each fact's vector by the configured embedder as a store keeps it; the built-in ones need context."""
    if tools.embedder is tools.local or plan.vectors is None:
        return [() for _ in plan.facts]
    number = unit.embedder(made_by(tools.embedder, plan.vectors))
    return [((number, store.cell(number, vector), *planes(vector)),) for vector in plan.vectors]


def _link(unit: SqliteUnit, plan: Plan, rows: dict[int, int], known: Container[int], now: int) -> None:
    """Store the note's edges, and what made them."""
    unit.link(_edges(plan, rows, known), now)
    if fresh := [row for n, row in rows.items() if n not in known]:
        unit.linked(plan.linker, min(fresh))


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
