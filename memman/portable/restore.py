"""An export taken in: what it tells of acts that a store lacks is added, and what the store has stays."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

import apsw

from memman.clock import now_ms
from memman.config.buried import Buried, dig_up_texts
from memman.config.tombstones import WHOLE, Tombstones, bury, dig_up
from memman.locks import quiet
from memman.model.uid import kept_uid
from memman.portable.incoming import Export
from memman.recovery.taking_in import purged as purged_elsewhere
from memman.recovery.taking_in import take_in
from memman.secrets import screened
from memman.secrets.leaks import through
from memman.store import records
from memman.store.opening import open_store
from memman.store.records import Parts, Record, states_of
from memman.store.shapes import harmless
from memman.store.sqlite import vectors
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.index import RULE, row_of
from memman.store.sqlite.unit import SqliteUnit
from memman.upkeep.rules import publish

# What is counted of what was purged where the export is from.
PURGES = "purged there, to be purged here"


@dataclass(frozen=True, slots=True)
class Plan:
    """The `missing` records of an export, and what they make of a store: new memories and rules, by uid.

    Of `purged` ones the records come in empty; they come back `again` under new uids where a person asked for it.
    `here` counts the memories that are there already, `changed` those of them that the export knows more of, and `gone`
    what is there and was purged where the export is from.
    """

    missing: Sequence[Record]
    memories: Mapping[str, Parts]
    rules: Mapping[str, Parts]
    purged: Mapping[str, Parts]
    again: Mapping[str, Parts]
    here: int
    changed: int
    gone: int

    def counted(self) -> dict[str, int]:
        """Count what is to be added, memories by status, and what is to be changed."""
        come = [*self.memories.values(), *self.again.values()]
        statuses = Counter(parts[records.STATUS]["status"] for parts in come if records.TEXT in parts)
        ruled = len(self.rules) + sum(RULE in parts for parts in self.again.values())
        more = ((RULE, ruled), ("changed", self.changed), (PURGES, self.gone))
        return dict(statuses) | {name: n for name, n in more if n}


def planned(data: str, store_path: str, export: Export, *, purged: bool) -> Plan:
    """Compare an export with a store. With `purged` what was purged here comes back."""
    with Catalogue.open(store_path) as catalogue:
        db = catalogue.reader.db
        missing = _missing(db, export.records)
        there = {uid for (uid,) in db.execute("SELECT uid FROM memory UNION SELECT uid FROM rule")}
        emptied = {uid for (uid,) in db.execute("SELECT memory FROM record WHERE kind = 'purged'")}
        gone = set(purged_elsewhere(db, missing))
    buried, texts = Tombstones.load(data), Buried.load(data)
    states = states_of(export.records).items()
    memories = {uid: parts for uid, parts in states if records.TEXT in parts}
    rules = {uid: parts for uid, parts in states if RULE in parts and records.TEXT not in parts}

    def refused(uid: str, said: Parts) -> bool:
        return uid in emptied or buried.hold(said["note"], uid) or texts.says(said["text"])

    away = {uid: one for uid, one in memories.items() if uid not in there and refused(uid, one[records.TEXT])}
    buried_rules = emptied | buried.notes - there
    away |= {uid: one for uid, one in rules.items() if uid in buried_rules or one[RULE]["memory"] in away}
    again = {name: parts for uid, parts in away.items() if (name := _named_again(uid, buried)) not in there}
    return Plan(
        [one._replace(body="") if one.memory in away and one.kind != "purged" else one for one in missing],
        {uid: parts for uid, parts in memories.items() if uid not in there | away.keys()},
        {uid: parts for uid, parts in rules.items() if uid not in there | away.keys()},
        {} if purged else away,
        again if purged else {},
        len(memories.keys() & there),
        len({one.memory for one in missing} & (there - gone)),
        len(gone),
    )


def restored(data: str, store: str, export: Export, *, purged: bool) -> int:
    """Add to a store what it lacks of an export, all or nothing; return how many memories are new. Raises Busy."""
    with quiet(data):
        with closing(open_store(data, store)) as opened:
            plan = planned(data, opened.path, export, purged=purged)
            if rows := [*_purges(data, plan)]:
                bury(data, rows, now_ms())

            def beside(unit: SqliteUnit, _: list[Record]) -> None:
                _come_again(unit, plan.again)
                _put_vectors(unit, export)

            take_in(opened, data, store, [harmless(one, screened) for one in plan.missing], beside)
            opened.maintain()
        texts = [parts[records.TEXT] for parts in plan.again.values() if records.TEXT in parts]
        dig_up_texts(data, (said["text"] for said in texts))
        dig_up(data, (), {said["note"] for said in texts})
    if plan.again:
        publish(data)
    return sum(records.TEXT in parts for parts in (*plan.memories.values(), *plan.again.values()))


def _missing(db: apsw.Connection, found: Sequence[Record]) -> list[Record]:
    """Return the records of acts that a store has not, as nobody's: whoever imports them tells others of them.

    Of two machines' accounts of one act the first counts, as in the file.
    """
    known = {act for (act,) in db.execute("SELECT DISTINCT act FROM record")}
    told = dict[str, str]()
    ordered = sorted(found, key=lambda one: (one.at, one.host, one.n))
    fresh = [one for one in ordered if one.act not in known and told.setdefault(one.act, one.host) == one.host]
    return [one._replace(host="", n=0) for one in fresh]


def _purges(data: str, plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield what was purged where the export is from, and is to stay away from now on."""
    known = set(Tombstones.rows(data))
    for one in plan.missing:
        if one.kind == "purged":
            note = one.said.get("note")
            row = (note, one.memory) if note else (one.memory, WHOLE)
            if row not in known:
                yield row


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
