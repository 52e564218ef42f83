"""What was learned apart: which memories of one host make those of another out of date.

Each of two hosts compares what has come with what it had and the other had not seen. Both name what they do by the
pair, so that it is one act: what the first of them did counts, or where they differ, what lets both stand.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from memman.belief import effect
from memman.model.records import Candidate, Fact, Note, Provenance, Verdict
from memman.pipeline.candidates import find
from memman.pipeline.judged import JudgedVectors
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.reconcile import by_builtin
from memman.sqlite import LISTED
from memman.store import MemoryRow
from memman.store.records import pair
from memman.store.sqlite import record_log
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit
from memman.sync.take import COMPARED, REACHED
from memman.upkeep.backfill import fill


async def reconcile(store: SqliteStore, tools: Tools, stopping: Callable[[], bool], most: int | None = None) -> int:
    """Compare what has come with what is ours, up to `most` memories at once; return how many were retired.

    What is left is gone on with the next time.
    """
    came: dict[str, int] = json.loads(store.reader.meta(COMPARED) or "{}")
    if not came or tools.judge is None:
        return 0
    sql = "SELECT memory, n FROM record WHERE host = ? AND kind = 'learned' AND n > ?"
    known = store.db.execute(sql, (record_log.OURS, min(came.values())))
    ours: dict[str, int] = {uid: n for uid, n in known if uid not in came}
    rows = _current(store, [*came, *ours]) if ours else []
    # Hosts of which one has the vectors of what another has not would find different ones.
    for embedder in (tools.local, JudgedVectors(tools.judge)) if rows else ():
        await fill(store, embedder)
    retired, last = 0, json.loads(store.reader.meta(REACHED) or '[-1, ""]')
    for at, row in enumerate(one for one in rows if [one.valid_from, one.uid] > last):
        if stopping() or (most is not None and at >= most):
            return retired
        verdicts = await _verdicts(store, tools, row, came, ours)
        with store.unit() as unit:
            for verdict, candidate in verdicts:
                of = record_log.learned_by(unit.db, row.uid)
                with unit.other_act(tools.clock(), act=pair(row.uid, candidate.uid), of=of):
                    retired += _settle(unit, row, verdict, candidate)
            unit.set_meta(REACHED, json.dumps([row.valid_from, row.uid]))
    with store.unit() as unit:
        unit.set_meta(COMPARED, None)
        unit.set_meta(REACHED, None)
    return retired


def _current(store: SqliteStore, uids: Iterable[str]) -> list[MemoryRow]:
    sql = f"SELECT {MemoryRow.listed()} FROM memory WHERE status = 'current' AND uid {LISTED} ORDER BY valid_from, uid"
    return [MemoryRow(row) for row in store.db.execute(sql, (json.dumps([*uids]),))]


async def _verdicts(
    store: SqliteStore, tools: Tools, row: MemoryRow, came: Mapping[str, int], ours: Mapping[str, int]
) -> list[tuple[Verdict, Candidate]]:
    """Return what a memory does to older ones of another host, as a fact would that came with a note now."""

    def apart(new: str, mine: str) -> bool:
        return new in came and ours.get(mine, 0) > came[new]

    reader = SqliteReader(store.db)
    row = next(iter(reader.rows([row.id]).values()))
    if row.status != "current":
        return []
    repository = reader.scope_of([row.id]).get(row.id, ("", ""))[0]
    note = Note(row.uid, "", row.text, row.valid_from, provenance=Provenance(row.source, repository=repository))
    entities, keywords = (tuple(json.loads(names)) for names in (row.entities, row.keywords))
    fact = Fact(row.text, row.category, row.importance, entities, keywords, row.summary, row.source)
    tools = replace(tools, reader=reader)
    (vector,) = tools.local.vectors([row.text])
    found = {
        one.uid: one
        for one in find(tools, note, fact, vector)
        if (apart(row.uid, one.uid) or apart(one.uid, row.uid))
        and (one.valid_from, one.uid) < (row.valid_from, row.uid)
        and not record_log.of_acts(store.db, [pair(row.uid, one.uid)])
    }
    plan = Plan(note, (fact,), candidates=(tuple(found.values()),))
    return [(verdict, found[verdict.memory]) for verdict in await by_builtin(tools, plan)]


def _settle(unit: SqliteUnit, new: MemoryRow, verdict: Verdict, candidate: Candidate) -> bool:
    """Do what a memory does to an older one; return whether it retired it."""
    reader = SqliteReader(unit.db)
    ((old, before),) = reader.rows(reader.located([candidate.uid])).items()
    at = max(before.recorded_at, new.recorded_at)  # each host says the same
    known = reader.statements([old, new.id])
    what = effect(verdict.action, known[new.id], known[old])
    return unit.carry_out(what, old, new.id, at, new.valid_from, verdict.reason)
