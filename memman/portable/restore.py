"""An export taken in: the records that a store lacks are added as they were, and what it has stays."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from memman.clock import now_ms
from memman.config.buried import Buried, dig_up_texts
from memman.config.tombstones import Tombstones, bury, dig_up
from memman.locks import quiet
from memman.model.uid import kept_uid
from memman.portable.lines import Export, harmless
from memman.recovery.swap import finish
from memman.secrets import screened
from memman.secrets.leaks import through
from memman.store import records
from memman.store.opening import open_store
from memman.store.records import Parts, Record, states_of
from memman.store.sqlite import vectors
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.index import RULE, row_of
from memman.store.sqlite.unit import SqliteUnit
from memman.upkeep.rules import publish


@dataclass(frozen=True, slots=True)
class Plan:
    """The `missing` records of an export, and what they make of a store: new memories and rules, by uid.

    Of `purged` ones the records come in empty; they come back `again` under new uids where a person asked for it.
    `here` counts the memories that are there already, `changed` those of them that the export knows more of.
    """

    missing: Sequence[Record]
    memories: Mapping[str, Parts]
    rules: Mapping[str, Parts]
    purged: Mapping[str, Parts]
    again: Mapping[str, Parts]
    here: int
    changed: int

    def counted(self) -> dict[str, int]:
        """Count what is to be added, memories by status, and what is to be changed."""
        come = [*self.memories.values(), *self.again.values()]
        statuses = Counter(parts[records.STATUS]["status"] for parts in come if records.TEXT in parts)
        ruled = len(self.rules) + sum(RULE in parts for parts in self.again.values())
        return dict(statuses) | {name: n for name, n in ((RULE, ruled), ("changed", self.changed)) if n}


def planned(data: str, store_path: str, export: Export, *, purged: bool) -> Plan:
    """Compare an export with a store. With `purged` what was purged here comes back."""
    with Catalogue.open(store_path) as catalogue:
        db = catalogue.reader.db
        sql = "SELECT h.name, r.n FROM record r JOIN host h ON h.id = r.host WHERE r.memory <> ''"
        have = set(db.execute(sql).fetchall())
        there = {uid for (uid,) in db.execute("SELECT uid FROM memory UNION SELECT uid FROM rule")}
        emptied = {uid for (uid,) in db.execute("SELECT memory FROM record WHERE kind = 'purged'")}
    buried, texts = Tombstones.load(data), Buried.load(data)
    missing = [one for one in export.records if (one.host, one.n) not in have]
    states = states_of(export.records).items()
    memories = {uid: parts for uid, parts in states if records.TEXT in parts}
    rules = {uid: parts for uid, parts in states if RULE in parts and records.TEXT not in parts}

    def refused(uid: str, said: Parts) -> bool:
        return uid in emptied or buried.hold(said["note"], uid) or texts.says(said["text"])

    gone = {uid: one for uid, one in memories.items() if uid not in there and refused(uid, one[records.TEXT])}
    away = emptied | buried.notes - there
    gone |= {uid: one for uid, one in rules.items() if uid in away or one[RULE]["memory"] in gone}
    again = {name: parts for uid, parts in gone.items() if (name := _named_again(uid, buried)) not in there}
    return Plan(
        [one._replace(body="") if one.memory in gone else one for one in missing],
        {uid: parts for uid, parts in memories.items() if uid not in there | gone.keys()},
        {uid: parts for uid, parts in rules.items() if uid not in there | gone.keys()},
        {} if purged else gone,
        again if purged else {},
        len(memories.keys() & there),
        len({one.memory for one in missing} & there),
    )


def restored(data: str, store: str, export: Export, *, purged: bool) -> int:
    """Add to a store what it lacks of an export, all or nothing; return how many memories are new. Raises Busy."""
    with quiet(data):
        finish(data)
        with closing(open_store(data, store)) as opened:
            plan = planned(data, opened.path, export, purged=purged)
            with opened.unit() as unit:
                unit.take_in(harmless(one, screened) for one in plan.missing)
                _come_again(unit, plan.again)
                _put_vectors(unit, export)
                for key, value in export.learned.items():
                    unit.db.execute("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO NOTHING", (key, value))
            opened.maintain()
        _settle(data, export, plan)
    publish(data)
    return sum(records.TEXT in parts for parts in (*plan.memories.values(), *plan.again.values()))


def _named_again(uid: str, buried: Tombstones) -> str:
    """Return the uid under which what was purged comes back: the purge of the first one holds for ever."""
    name = kept_uid(f"again\n{uid}")
    return name if not buried.hold(name, name) else _named_again(name, buried)


def _come_again(unit: SqliteUnit, again: Mapping[str, Parts]) -> None:
    now = now_ms()
    rows = [unit.record(now, uid, "import", through(parts, screened)) for uid, parts in again.items()]
    unit.settle([row for row in rows if row])


def _put_vectors(unit: SqliteUnit, export: Export) -> None:
    """Store the vectors of an export that memories here lack."""
    for one in export.vectors:
        number, row = unit.embedder(one.made_by), row_of(unit.db, one.memory)
        if row and not vectors.unpacked(unit.db, number, [row]):
            unit.put_vectors(number, [(row, 0, one.planes, one.squares)])


def _settle(data: str, export: Export, plan: Plan) -> None:
    """Keep from now on what was purged where the export is from, and let go of what has come back."""
    notes = {parts[records.TEXT]["note"] for parts in plan.again.values() if records.TEXT in parts}
    dig_up_texts(data, (parts[records.TEXT]["text"] for parts in plan.again.values() if records.TEXT in parts))
    dig_up(data, (), notes)
    known = set(Tombstones.rows(data))
    here = {parts[records.TEXT]["note"] for parts in plan.memories.values()} | plan.memories.keys() | plan.rules.keys()
    fresh = [one for one in dict.fromkeys(export.purged) if one not in known and here.isdisjoint(one)]
    if fresh:
        bury(data, fresh, now_ms())
