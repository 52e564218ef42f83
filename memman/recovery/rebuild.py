"""A store made anew from its log of records: all that recall reads follows from it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, NamedTuple

import apsw

from memman.config.tombstones import Tombstones
from memman.model.records import Fingerprint
from memman.model.vocabulary import REPLACED, SPREAD, UNDONE
from memman.recovery.salvage import by_key, insert, rows
from memman.sqlite import checkpoint
from memman.store import shapes
from memman.store.records import Record
from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore

# Memories that are written at once.
_PART = 512
_RECORD = ("id", "host", *Record._fields[1:], "sum")
_HOST = ("id", "name", "n", "at", "ours")
# What is in no record, since it concerns this machine alone, or tells what recall has learned; and what of it names
# memories by row.
_LOCAL: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("meta", ("key", "value"), f"key GLOB '{SPREAD}*' OR key GLOB '{REPLACED}*' OR key GLOB '{UNDONE}*'"),
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


@dataclass(frozen=True, slots=True)
class Log:
    """How many records a log had, how many of them were damaged, and how many of these a backup had."""

    records: int
    damaged: int
    replaced: int


def rebuilt(new: SqliteStore, read: Copies, backup: Sequence[Record], buried: Tombstones) -> Log:
    """Fill a new store with the sound records of a file, and from a backup those that are not, and make its index."""
    with new.unit() as unit:
        db = unit.db
        found = set(_taken(db, read, {one.host for one in backup}))
        gaps = {(name, n) for name, last in record_log.known(db).items() for n in range(1, last + 1)} - found
        old = [one for one in backup if (one.host, one.n) in gaps]
        gone = {one.memory for one in old if buried.hold(one.act, one.memory) or one.memory in buried.notes}
        again = record_log.add(db, [one._replace(body="") if one.memory in gone else one for one in old])
        record_log.fill_gaps(db)
    _indexed(new)
    _kept(new, read.checked)
    return Log(len(found) + len(gaps), len(gaps), len(again))


def _taken(db: apsw.Connection, read: Copies, others: Collection[str]) -> Iterator[tuple[str, int]]:
    """Take over the sound records; yield host and number of each.

    The name of a host whose row is damaged is one that a backup has; where none fits, it is its own, if it can be read,
    or a new one.
    """
    hosts = {row[0]: row for row in rows(read.checked, "host", _HOST)}
    names = dict(rows(read.every, "host", ("id", "name"))) | {row: one[1] for row, one in hosts.items()}
    raw = list(by_key(read.every, "record", _RECORD))
    fits: dict[int, str] = {}
    for _, host, *said, total in raw:
        if host not in fits and (name := _named([names.get(host, ""), *others], said, total)):
            fits[host] = name
    for host in {host for _, host, *_ in raw} | hosts.keys():
        known = hosts.get(host, (host, "", 0, 0, host == record_log.OURS))
        db.execute(
            "INSERT OR IGNORE INTO host VALUES (?, ?, ?, ?, ?)",
            (host, fits.get(host) or str(known[1]) or token_hex(8), *known[2:]),
        )
    for number, host, *said, total in raw:
        record = Record(fits.get(host) or "0" * 16, *said)
        if shapes.wrong(record) or (record.body and host in fits and record.sum != total):
            continue
        if host not in fits:  # its name is new: so is the checksum
            record = record._replace(host=str(db.execute("SELECT name FROM host WHERE id = ?", (host,)).get))
        values = (number, host, *record[1:], total if host in fits else record.sum)
        db.execute(f"INSERT OR IGNORE INTO record VALUES ({', '.join('?' * len(values))})", values)
        db.execute("UPDATE host SET n = max(n, ?), at = max(at, ?) WHERE id = ?", (record.n, record.at, host))
        yield record.host, record.n


def _named(names: Iterable[object], said: Sequence[Any], total: object) -> str:
    """Return which of some hosts wrote a record, as its checksum has it, '' for none."""
    return next((str(name) for name in names if name and Record(str(name), *said).sum == total), "")


def _indexed(new: SqliteStore) -> None:
    """Write memories, rules and receipts by their records, in the order in which they came, and index their words."""
    uids = [uid for (uid,) in new.db.execute(_UIDS)]
    for first in range(0, len(uids), _PART):
        with new.unit() as unit:
            unit.settle(index.rewrite(unit.db, uids[first : first + _PART]))
        checkpoint(new.db)  # the words of a large store would make its log several times the file
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
