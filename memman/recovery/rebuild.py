"""A store made anew from its log of records: all that recall reads follows from it."""

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

import apsw

from memman.clock import now_ms
from memman.config.tombstones import Tombstones
from memman.model.records import Fingerprint
from memman.model.vocabulary import BRANCH_OF, CONNECTED, REPLACED, REWRITTEN, SPREAD, UNDONE
from memman.recovery.salvage import by_key, insert, rows
from memman.sqlite import checkpoint
from memman.store import shapes
from memman.store.records import Record
from memman.store.sqlite import index, record_log
from memman.store.sqlite.record_log import OURS
from memman.store.sqlite.store import SqliteStore

# Memories that are written at once.
_PART = 512
_RECORD = ("id", "host", *Record._fields[1:], "sum")
_HOST = ("id", "name", "n", "at", "ours")
# Settings that follow from no record: what undos name, embedders' habits, which server or branch a store is.
_KEYS = (SPREAD, REPLACED, UNDONE, CONNECTED, BRANCH_OF, REWRITTEN)
# What is in no record, since it concerns this machine alone, or tells what recall has learned; and what of it names
# memories by row.
_LOCAL: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("meta", ("key", "value"), " OR ".join(f"key GLOB '{key}*'" for key in _KEYS)),
    ("typed", ("digest", "text"), "1"),
)
_BESIDE = {"shown": ("memory", "session", "way", "agent", "at", "times", "tokens"), "typed_for": ("memory", "digest")}
# In the order of the table's key: whatever is sorted cannot be read beyond a damaged page.
_VECTOR = ("embedder", "memory", "planes", "squares")
_MADE = ("id", "provider", "model", "dimension")
_LINK = ("src", "kind", "dst", "weight", "detail")
_UNCLOSED = (
    "SELECT note, min(recorded_at), count(*) FROM memory WHERE note NOT IN (SELECT note FROM receipt) GROUP BY note"
)
_UIDS = "SELECT memory FROM record WHERE memory <> '' GROUP BY memory ORDER BY min(id)"


class Copies(NamedTuple):
    """A damaged file opened twice: to read `every` page as it is, and only those whose checksum is right."""

    every: apsw.Connection
    checked: apsw.Connection


class Log(NamedTuple):
    """How many records of a log were damaged, and how many of these a backup had.

    `lost` are the memories of which neither has a record.
    """

    damaged: int
    replaced: int
    lost: tuple[str, ...] = ()


def rebuilt(new: SqliteStore, read: Copies, backup: apsw.Connection | None, buried: Tombstones) -> Log:
    """Fill a new store with the sound records of a file, and from a backup those that are not, and make its index."""
    old = [*record_log.every(backup)] if backup else []
    with new.unit() as unit:
        db = unit.db
        found = set(_taken(db, read, {one.host for one in old}))
        known = record_log.known(db)
        gaps = {(name, n) for name, last in known.items() for n in range(1, last + 1)} - found
        if not known or not known.keys().isdisjoint(one.host for one in old):  # else it is of another store
            gaps |= {(one.host, one.n) for one in old} - found
        gone = {one.memory for one in old if buried.hold(one.act, one.memory) or one.memory in buried.notes}
        back = [one for one in old if (one.host, one.n) in gaps]
        again = record_log.add(db, [one._replace(body="") if one.memory in gone else one for one in back])
        record_log.fill_gaps(db)
    _indexed(new)
    lost = _lost(new, read.checked, buried) if len(gaps) > len(again) else ()
    _closed(new)
    for source in filter(None, (backup, read.checked)):
        _kept(new, source)
    return Log(len(gaps), len(again), tuple(lost))


def _taken(db: apsw.Connection, read: Copies, others: Collection[str]) -> Iterator[tuple[str, int]]:
    """Take over the sound records; yield host and number of each.

    The name of a host whose row is damaged is one that a backup has.
    """
    hosts = rows(read.checked, "host", _HOST)
    db.executemany("INSERT OR IGNORE INTO host VALUES (?, ?, ?, ?, ?)", hosts)
    fits = {row: name for row, name, *_ in hosts}
    names: dict[int, Any] = dict(rows(read.every, "host", ("id", "name")))
    for number, host, *said, total in by_key(read.every, "record", _RECORD):
        named = [fits[host]] if host in fits else [names.get(host, ""), *others]
        told = (Record(str(name), *said) for name in named)
        one = next((one for one in told if one.sum == total or (host in fits and not one.body)), None)
        if not one or shapes.wrong(one):
            continue
        if host not in fits:
            fits[host] = one.host
            db.execute("INSERT OR IGNORE INTO host(id, name, ours) VALUES (?, ?, ?)", (host, one.host, host == OURS))
        db.execute(f"INSERT OR IGNORE INTO record VALUES ({', '.join('?' * 11)})", (number, host, *one[1:], total))
        db.execute("UPDATE host SET n = max(n, ?), at = max(at, ?) WHERE id = ?", (one.n, one.at, host))
        yield one.host, one.n


def _indexed(new: SqliteStore) -> None:
    """Write memories, rules and receipts by their records, in the order in which they came, and index their words."""
    uids = [uid for (uid,) in new.db.execute(_UIDS)]
    for first in range(0, len(uids), _PART):
        with new.unit() as unit:
            unit.settle(index.rewrite(unit.db, uids[first : first + _PART]))
        checkpoint(new.db)  # the words of a large store would make its log several times the file


def _lost(new: SqliteStore, read: apsw.Connection, buried: Tombstones) -> list[str]:
    """Return the memories that the old index has and of which no record is left; what was forgotten there stays so."""
    stood: dict[str, str] = dict(rows(read, "memory", ("uid", "status")))
    with new.unit() as unit:
        for uid in (uid for uid, status in stood.items() if status == "forgotten"):
            if row := index.row_of(unit.db, uid):
                unit.forget(row, now_ms())
        gone = buried.notes | {one for (one,) in unit.db.execute("SELECT memory FROM record WHERE kind = 'purged'")}
        there = gone | {uid for (uid,) in unit.db.execute("SELECT uid FROM memory")}
    return sorted(uid for uid in stood.keys() - there if not buried.hold("", uid))


def _closed(new: SqliteStore) -> None:
    """Have no note be stored again, and everything be looked through for secrets."""
    with new.unit() as unit:
        unit.db.execute("UPDATE memory SET screened = 0")  # the log may be older than today's rules for secrets
        unclosed: list[Any] = unit.db.execute(_UNCLOSED).fetchall()  # a note that waits would be stored again
        for note, at, facts in unclosed:
            unit.record(at, note, "note", {index.RECEIPT: {"at": at, "outcome": "stored", "facts": facts}})


def _kept(new: SqliteStore, read: apsw.Connection) -> None:
    """Take over what no record has: what was shown and typed here, how often, and the sound vectors and edges.

    What lacks a vector drains make, and edges all once more: nobody knows which are missing.
    """
    with new.unit() as unit:
        db = unit.db
        both = [*rows(read, "memory", ("id", "uid")), *(one[::-1] for one in rows(read, "memory", ("uid", "id")))]
        now = {row: index.row_of(db, str(uid)) for row, uid in both}  # by the table, and by the index of its uids
        for table, names, where in _LOCAL:
            for values in rows(read, table, names, where):
                insert(db, table, names, values)
        for table, names in _BESIDE.items():
            for memory, *others in rows(read, table, names):
                if there := now.get(memory):
                    insert(db, table, names, (there, *others))
        used, fired = rows(read, "memory", ("uses", "uid")), rows(read, "rule", ("hits", "hit_at", "uid"))
        db.executemany("UPDATE memory SET uses = ? WHERE uid = ?", used)
        db.executemany("UPDATE rule SET hits = ?, hit_at = ? WHERE uid = ?", fired)
        makers = {number: Fingerprint(*made) for number, *made in rows(read, "embedder", _MADE)}
        for number, row, *vector in rows(read, "vector", _VECTOR):
            if number in makers and (there := now.get(row)):
                unit.put_vectors(unit.embedder(makers[number]), [(there, 0, *vector)])
        ends = ((now.get(src), kind, now.get(dst), *how) for src, kind, dst, *how in rows(read, "link", _LINK))
        db.executemany("INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?, ?)", [one for one in ends if one[0] and one[2]])
        left = [now[row] for (row,) in rows(read, "outdated", ("memory",)) if now.get(row)]
        db.execute("DELETE FROM outdated")
        db.executemany("INSERT OR IGNORE INTO outdated VALUES (?)", [(row,) for row in left])
    new.maintain()
    checkpoint(new.db)
