"""An export taken in: the records that a store lacks are added as they were, and what it has stays."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from hashlib import blake2b
from itertools import groupby

import apsw

from memman.clock import now_ms
from memman.config.buried import Buried, dig_up_texts
from memman.config.tombstones import WHOLE, Tombstones, bury, dig_up
from memman.locks import quiet
from memman.model.uid import kept_uid
from memman.portable.incoming import Export
from memman.recovery.swap import finish
from memman.recovery.taking_in import purged as purged_elsewhere
from memman.recovery.taking_in import take_in
from memman.secrets import masked, screened
from memman.secrets.leaks import through, within
from memman.store import records
from memman.store.opening import open_store
from memman.store.records import Parts, Record, states_of
from memman.store.shapes import harmless
from memman.store.sqlite import authorship, record_log, vectors
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.index import RULE, row_of
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit
from memman.upkeep.rules import publish

# What is counted of what was purged where the export is from.
PURGES = "purged there, to be purged here"
_HERE = "SELECT h.name, r.n, r.sum, r.at, r.act, r.memory, r.kind FROM record r JOIN host h ON h.id = r.host"


@dataclass(frozen=True, slots=True)
class Plan:
    """The `missing` records of an export, and what they make of a store: new memories and rules, by uid.

    Of `purged` ones the records come in empty; they come back `again` under new uids where a person asked for it.
    `here` counts the memories that are there already, `changed` those of them that the export knows more of, `gone`
    what is there and was purged where the export is from, and `other` records that say otherwise here. Records of this
    machine beyond number `agreed` are to get another host, since the export is of a copy of this store. A store that
    is `shared` is on a server.
    """

    missing: Sequence[Record]
    memories: Mapping[str, Parts]
    rules: Mapping[str, Parts]
    purged: Mapping[str, Parts]
    again: Mapping[str, Parts]
    here: int
    changed: int
    gone: int
    other: int
    agreed: int | None
    shared: bool

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
        found, missing, agreed, other = _compared(db, export.records)
        there = {uid for (uid,) in db.execute("SELECT uid FROM memory UNION SELECT uid FROM rule")}
        emptied = {uid for (uid,) in db.execute("SELECT memory FROM record WHERE kind = 'purged'")}
        gone, shared = set(purged_elsewhere(db, missing)), bool(authorship.role(db))
    buried, texts = Tombstones.load(data), Buried.load(data)
    states = states_of(found).items()
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
        other,
        agreed,
        shared,
    )


def restored(data: str, store: str, export: Export, *, purged: bool) -> int:
    """Add to a store what it lacks of an export, all or nothing; return how many memories are new. Raises Busy."""
    with quiet(data):
        finish(data)
        with closing(open_store(data, store)) as opened:
            plan = planned(data, opened.path, export, purged=purged)
            _part(opened, plan.agreed)
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


def _compared(db: apsw.Connection, found: Sequence[Record]) -> tuple[list[Record], list[Record], int | None, int]:
    """Return records by the hosts that they have here, those that are missing, `agreed` and how many say otherwise.

    Two files that go on under one host's name are copies of one another. If the host is ours, our records beyond those
    that are the same get another; of any other host the file's records do, the same one at every import.
    """
    ours = db.execute("SELECT name FROM host WHERE id = ?", (record_log.OURS,)).get or ""
    here = {(host, n): (total, said) for host, n, total, *said in db.execute(_HERE)}
    known = {number for number, (_, said) in here.items() if said[2]}
    last = max((n for host, n in here if host == ours), default=0)
    named, missing, agreed, other = list[Record](), list[Record](), None, 0

    def differs(one: Record) -> bool:
        said = here.get((one.host, one.n), (0, None))[1]
        if said is None:
            return one.host == ours and one.n > last
        return "" not in {said[2], one.memory} and said != [one.at, one.act, one.memory, one.kind]

    for host, its in groupby(sorted(found, key=lambda one: (one.host, one.n)), key=lambda one: one.host):
        numbered = list(its)
        apart = next((n for n, one in enumerate(numbered) if differs(one)), len(numbered))
        same, beyond = numbered[:apart], numbered[apart:]
        if beyond and host == ours:
            agreed = min(last, beyond[0].n - 1)
        elif beyond:
            name = blake2b(ascii((host, *beyond[0][1:6])).encode(), digest_size=8).hexdigest()
            beyond = [one._replace(host=name, n=one.n - beyond[0].n + 1) for one in beyond]
        missing += [one for one in same if (one.host, one.n) not in known]
        missing += beyond if host == ours else [one for one in beyond if (one.host, one.n) not in known]
        named += [*same, *beyond]
        other += sum(_otherwise(db, one, here[host, one.n][0]) for one in same if (host, one.n) in here)
    return named, missing, agreed, other


def _otherwise(db: apsw.Connection, one: Record, total: int) -> bool:
    """Whether a record says otherwise here, secrets and what is purged aside."""
    if not one.body or one.sum == total:
        return False
    [ours] = record_log.every(db, one.host, one.n - 1, 1)
    return bool(ours.body) and within(ours.body, masked) != within(one.body, masked)


def _part(store: SqliteStore, agreed: int | None) -> None:
    """Have a store go on under another name than its copy."""
    if agreed is not None:
        with store.unit() as unit:
            unit.follow(record_log.renew_host(unit.db, agreed))


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
