"""What two machines learned apart is compared once it meets: the newer replaces the older, as with a note.

Each of them compares what came with what it had and the other had not seen. Both name what they do by the pair, so that
it is one act: what the first of them did counts, or where they differ, what lets both stand.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from memman.belief import effect
from memman.model.records import Candidate, Fact, Note, Provenance, Verdict
from memman.pipeline.candidates import find
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.reconcile import by_builtin
from memman.sqlite import LISTED
from memman.store import MemoryRow
from memman.store.records import Record, pair
from memman.store.sqlite import record_log
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit

# Store setting: memories that have come and are to be compared with ours, each with the first record of ours that its
# host had not seen, as JSON.
COMPARED = "sync:compared"
# Store setting: up to which memory, by when it was said, that is done.
REACHED = "sync:reached"


class Apart(NamedTuple):
    """Memories that came, with the last record of ours that their host had seen; ours; all that is to be compared."""

    came: Mapping[str, int]
    ours: Mapping[str, int]
    rows: Sequence[MemoryRow]


def to_compare(unit: SqliteUnit, new: Iterable[Record], seen: Mapping[str, int]) -> None:
    """Have memories that came be compared with those of our records that their host had not seen."""
    learned = {one.memory: seen[one.memory] for one in new if one.kind == "learned" and one.memory in seen}
    if learned:
        came = json.loads(SqliteReader(unit.db).meta(COMPARED) or "{}")
        unit.set_meta(COMPARED, json.dumps(came | learned))
        unit.set_meta(REACHED, None)


def apart(store: SqliteStore) -> Apart:
    """Return what has come and what of ours is to be compared with it."""
    came: dict[str, int] = json.loads(store.reader.meta(COMPARED) or "{}")
    sql = "SELECT memory, n FROM record WHERE host = ? AND kind = 'learned' AND n > ?"
    known = store.db.execute(sql, (record_log.OURS, min(came.values()))) if came else ()
    ours: dict[str, int] = {uid: n for uid, n in known if uid not in came}
    sql = f"SELECT {MemoryRow.listed()} FROM memory WHERE status = 'current' AND uid {LISTED} ORDER BY valid_from, uid"
    rows = store.db.execute(sql, (json.dumps([*came, *ours]),)) if ours else ()
    return Apart(came, ours, [MemoryRow(row) for row in rows])


async def compare(
    store: SqliteStore, tools: Tools, found: Apart, stopping: Callable[[], bool], most: int | None = None
) -> int:
    """Compare what was found, which has its vectors, up to `most` memories at once; return how many were retired.

    What is left is gone on with the next time.
    """
    retired, last = 0, json.loads(store.reader.meta(REACHED) or '[-1, ""]')
    for at, row in enumerate(one for one in found.rows if [one.valid_from, one.uid] > last):
        if stopping() or (most is not None and at >= most):
            return retired
        verdicts = await _verdicts(store, tools, row, found)
        with store.unit() as unit:
            for verdict, candidate in verdicts:
                of = record_log.learned_by(unit.db, row.uid)
                with unit.other_act(tools.clock(), act=pair(row.uid, candidate.uid), of=of):
                    retired += _settle(unit, row, verdict, candidate)
            unit.set_meta(REACHED, json.dumps([row.valid_from, row.uid]))
    if found.came:
        with store.unit() as unit:
            unit.set_meta(COMPARED, None)
            unit.set_meta(REACHED, None)
    return retired


async def _verdicts(store: SqliteStore, tools: Tools, row: MemoryRow, found: Apart) -> list[tuple[Verdict, Candidate]]:
    """Return what a memory does to older ones of another host, as a fact would that came with a note now."""

    def learned_apart(new: str, mine: str) -> bool:
        return new in found.came and found.ours.get(mine, 0) > found.came[new]

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
    older = {
        one.uid: one
        for one in find(tools, note, fact, vector)
        if (learned_apart(row.uid, one.uid) or learned_apart(one.uid, row.uid))
        and (one.valid_from, one.uid) < (row.valid_from, row.uid)
        and not record_log.of_acts(store.db, [pair(row.uid, one.uid)])
    }
    plan = Plan(note, (fact,), candidates=(tuple(older.values()),))
    return [(verdict, older[verdict.memory]) for verdict in await by_builtin(tools, plan)]


def _settle(unit: SqliteUnit, new: MemoryRow, verdict: Verdict, candidate: Candidate) -> bool:
    """Do what a memory does to an older one; return whether it retired it."""
    reader = SqliteReader(unit.db)
    ((old, before),) = reader.rows(reader.located([candidate.uid])).items()
    at = max(before.recorded_at, new.recorded_at)  # each host says the same
    known = reader.statements([old, new.id])
    what = effect(verdict.action, known[new.id], known[old])
    return unit.carry_out(what, old, new.id, at, new.valid_from, verdict.reason)
