"""What was learned apart: which memories of one host make those of another out of date.

Each host that has both finds the same, since both come in one order and only the judge in the wheel is asked; a model
that another host has not got has no say here. A pair is left alone where a host has seen both already.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from memman.model.records import Candidate, Fact, Note, Provenance, Verdict
from memman.model.trust import AGENT
from memman.model.vocabulary import CLAIMS, MAYBE, PROTECTED
from memman.pipeline.candidates import find
from memman.pipeline.judged import JudgedVectors
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.reconcile import by_builtin
from memman.pipeline.trust import may_touch
from memman.pipeline.upheld import contradict, upheld
from memman.store import MemoryRow, outlasts
from memman.store.sqlite import registers
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.registers import MEMORY, STATUS, TEXT
from memman.store.sqlite.store import SqliteStore
from memman.sync.bundle import Version, digest
from memman.sync.ledger import Ledger
from memman.upkeep.backfill import fill

# In the place of a host: what no host has said, and all find. It comes after every id.
ALL = "~"
_ORDER = "valid_from, uid"


async def reconcile(
    store: SqliteStore, tools: Tools, stopping: Callable[[], bool] = lambda: False, most: int | None = None
) -> int:
    """Compare what has come with what other hosts have, up to `most` memories at once; return how many were retired.

    What is left is gone on with the next time.
    """
    ledger = Ledger(store.db)
    fresh = ledger.fresh()
    if not fresh or tools.judge is None:
        return 0
    pairs = Pairs(ledger, fresh)
    retired = 0
    at, last = 0, json.loads(ledger.state("judged") or '[-1, ""]')
    rows = _current(store, pairs.concerned())
    # Hosts of which one has the vectors of what another has not would find different ones.
    for embedder in (tools.local, JudgedVectors(tools.judge)) if rows else ():
        await fill(store, embedder)
    for row in rows:
        if [row.valid_from, row.uid] <= last:
            continue
        if stopping() or (most is not None and at >= most):
            return retired
        verdicts = await _verdicts(store, tools, row, pairs.apart(row.uid))
        with store.unit() as unit:
            for verdict, candidate in verdicts:
                retired += _settle(unit, ledger, row, verdict, candidate)
            ledger.keep(judged=json.dumps([row.valid_from, row.uid]))
        at += 1
    with store.transaction():
        store.db.execute("UPDATE sync_born SET fresh = 0 WHERE fresh")
        ledger.keep(judged="")
    return retired


class Pairs:
    """Which memories of different hosts no host has seen together."""

    def __init__(self, ledger: Ledger, fresh: list[str]) -> None:
        self.born, self.fresh = ledger.born(), set(fresh)
        self._seen = {host: seen for host, (_, _, seen, _) in ledger.hosts().items()}
        self._me = ledger.state("host")

    def concerned(self) -> set[str]:
        """Return the memories of any such pair."""
        births = {(at, uid in self.fresh) for uid, at in self.born.items()}
        paired = {one for one in births if any(self._apart(one, other) for other in births)}
        return {uid for uid, at in self.born.items() if (at, uid in self.fresh) in paired}

    def apart(self, uid: str) -> Callable[[str], bool]:
        """Return what tells whether a memory makes such a pair with this one."""
        return lambda other: self._apart(self._birth(uid), self._birth(other))

    def _birth(self, uid: str) -> tuple[tuple[str, int], bool]:
        return self.born.get(uid, (self._me, 0)), uid in self.fresh

    def _apart(self, one: tuple[tuple[str, int], bool], other: tuple[tuple[str, int], bool]) -> bool:
        (mine, new), (its, as_new) = one, other
        return (new or as_new) and mine[0] != its[0] and self._unseen(its, mine[0]) and self._unseen(mine, its[0])

    def _unseen(self, at: tuple[str, int], host: str) -> bool:
        """Whether a host has not seen the memory of such a birth; what is new here this one has not."""
        return at[0] != host and (host == self._me or self._seen.get(host, {}).get(at[0], 0) < at[1])


def _current(store: SqliteStore, uids: set[str]) -> list[MemoryRow]:
    sql = (
        f"SELECT {MemoryRow.listed()} FROM memory WHERE status = 'current'"
        f" AND uid IN (SELECT value FROM json_each(?)) ORDER BY {_ORDER}"
    )
    return [MemoryRow(row) for row in store.db.execute(sql, (json.dumps(sorted(uids)),))]


async def _verdicts(
    store: SqliteStore, tools: Tools, row: MemoryRow, apart: Callable[[str], bool]
) -> list[tuple[Verdict, Candidate]]:
    """Return what a memory does to older ones of other hosts, as a fact would that came with a note now."""
    reader = SqliteReader(store.db)
    row = next(iter(reader.rows([row.id]).values()))
    if row.status != "current":
        return []
    repository = reader.scope_of([row.id]).get(row.id, ("", ""))[0]
    note = Note(row.uid, "", row.text, row.valid_from, provenance=Provenance(row.source, repository=repository))
    fact = Fact(
        row.text,
        row.category,
        row.importance,
        tuple(json.loads(row.entities)),
        tuple(json.loads(row.keywords)),
        row.summary,
        row.source,
    )
    tools = replace(tools, reader=reader)
    (vector,) = tools.local.vectors([row.text])
    found = [
        one
        for one in find(tools, note, fact, vector)
        if apart(one.uid) and (one.valid_from, one.uid) < (row.valid_from, row.uid)
    ]
    plan = Plan(note, (fact,), candidates=(tuple(found),))
    by_uid = {one.uid: one for one in found}
    return [
        (verdict, by_uid[verdict.memory])
        for verdict in await by_builtin(tools, plan)
        if row.source == AGENT
        or (may_touch(row.source, by_uid[verdict.memory].source) and not reader.meta(PROTECTED + verdict.memory))
    ]


def _settle(unit: Any, ledger: Ledger, new: MemoryRow, verdict: Verdict, candidate: Candidate) -> int:
    """Retire or mark a memory, at a time and of a version that every host arrives at."""
    old = MemoryRow(unit.db.execute(f"SELECT {MemoryRow.listed()} FROM memory WHERE uid = ?", (candidate.uid,)).get)
    at = max(old.recorded_at, new.recorded_at)
    reader = SqliteReader(unit.db)
    ends = reader.ends([old.id, new.id])
    shorter = outlasts(ends.get(old.id), ends.get(new.id))
    if reader.unconfirmed([new.id]) and upheld(reader, old.id):
        contradict(unit, [(replace(verdict, action="MEANWHILE") if shorter else verdict, old.id, new.id)], at)
        _keep(unit.db, ledger, new, {registers.mark(CLAIMS)}, (old.uid, new.uid))
        return 0
    if reader.meta(PROTECTED + old.uid):
        return 0
    marked = verdict.action == "MAYBE" or shorter
    if marked:
        done = unit.doubt(old.id, new.id, at, verdict.reason)
    else:
        done = unit.supersede(old.id, new.id, at, new.valid_from, verdict.reason)
    if done:
        for row in (old, new):
            _keep(unit.db, ledger, row, {STATUS, registers.mark(MAYBE)}, (old.uid, new.uid))
    return int(done and not marked)


def _keep(db: Any, ledger: Ledger, row: MemoryRow, parts: set[str], ends: tuple[str, str]) -> None:
    known = ledger.values(MEMORY, ends)
    clock = max((value.version.clock for (_, part), value in known.items() if part in {STATUS, TEXT}), default=0)
    now: Mapping[str, Any] = dict(registers.of_memories(db, [row.id]))[row.uid]
    for part in sorted(parts):
        was, value = known.get((row.uid, part)), now.get(part)
        if digest(value) != (was.version.digest if was else b""):
            version = Version(clock, ALL, digest(value))
            if was and version <= was.version:
                version = Version(was.version.clock + 1, ALL, digest(value))
            ledger.put((MEMORY, row.uid, part), version, unsaid=True)
