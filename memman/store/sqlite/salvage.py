"""What can still be read of a damaged database, and a new store made of it."""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

import apsw

from memman.model.vocabulary import FILLED, HELD, MAYBE, PROTECTED
from memman.sqlite import CHECKED, CHECKSUM_BYTES, trust_pages
from memman.store import MemoryRow
from memman.store.sqlite.carve import carved
from memman.store.sqlite.schema import KINDS
from memman.store.sqlite.seal import SEALED, digest
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import MANUAL

PAGE = 4096
# The bytes of a file's header that are the same in all of ours, by place: magic, page size, write-ahead log, fractions
# of a page, format of the schema, UTF-8. What is reserved on each page, and the mark that says so, tell each other.
_HEADER = {
    0: b"SQLite format 3\0" + PAGE.to_bytes(2, "big") + b"\2\2",
    21: b"\x40\x20\x20",
    44: b"\0\0\0\4",
    52: bytes(4),
    56: b"\0\0\0\1",
    64: bytes(4),
}
_RESERVED, _SIZE, _MARK = 20, 28, 68
# Row ids beyond what may have been given since the last that is there are a damaged sequence's.
LEAP = 10_000_000
# Errors after which all may be well once more, and those of reading that are the file's own.
_ELSEWHERE = (apsw.FullError, apsw.NoMemError, apsw.CantOpenError, apsw.BusyError)
_ITS_OWN = (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ)
# What goes with memories: from where, table, columns, which rows. Of pages that are damaged only what keeps something
# from coming back, or from going, where one that is wrong names nothing.
_BESIDE = (
    ("sound", "receipt", 11, "1"),
    ("read", "receipt", 11, "length(note) = 32 AND note NOT GLOB '*[^0-9a-f]*'"),
    ("sound", "meta", 2, "1"),
    ("read", "meta", 2, " OR ".join(f"key LIKE '{mark}%'" for mark in (HELD, PROTECTED, MAYBE))),
    ("sound", "log", 7, "1"),
)
# What a rebuild cannot make again.
_KEPT_LINKS = f"kind = {KINDS.index('causal')} OR detail LIKE '{MANUAL}%'"


class SealedRow(MemoryRow):
    """A memory with the digest of what was once written."""

    __slots__ = ()
    digest: int

    @property
    def sound(self) -> bool:
        """Whether it says what was once written."""
        return digest(*self[: len(SEALED)]) == self.digest


class PassedOver:
    """A context that goes on after what damage keeps from being done; what a disk or want of room does, it raises."""

    def __enter__(self) -> None:
        return

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if isinstance(error, _ELSEWHERE):
            return False
        if isinstance(error, apsw.IOError):
            return getattr(error, "extendedresult", 0) in _ITS_OWN
        return isinstance(error, apsw.Error | UnicodeDecodeError | OverflowError)


def opened(path: str, *, checked: bool) -> apsw.Connection:
    """Open a copy of a damaged file, with as much of its schema as can be read, its pages checked or not."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.execute("PRAGMA writable_schema = ON")
    if not checked:
        with PassedOver():
            trust_pages(db)
    return db


def mend_header(path: str, *, checked: bool) -> None:
    """Write anew what is known of the header of a copy: one byte of it wrong, and SQLite would read nothing at all."""
    if os.path.getsize(path) < PAGE:
        return
    with open(path, "r+b") as file:
        head = bytearray(file.read(PAGE))
        for place, known in _HEADER.items():
            head[place : place + len(known)] = known
        head[_SIZE : _SIZE + 4] = (os.path.getsize(path) // PAGE).to_bytes(4, "big")
        marked = head[_MARK : _MARK + 4] == CHECKED.to_bytes(4, "big")
        if not checked or head[_RESERVED] not in {0, CHECKSUM_BYTES} or marked:
            head[_RESERVED] = CHECKSUM_BYTES if checked else 0
        file.seek(0)
        file.write(head)


def whole(db: apsw.Connection) -> bool:
    """Whether the structure of a file, and all indexes in it, are as SQLite made them."""
    with PassedOver():
        return bool(db.execute("PRAGMA integrity_check(1)").get == "ok")
    return False


def rows(db: apsw.Connection, table: str, columns: Sequence[str] = ("*",), where: str = "1") -> list[tuple[Any, ...]]:
    """Return the rows before the first that cannot be read, and those after the last."""
    sql = f"SELECT {', '.join(columns)} FROM {table} WHERE {where} ORDER BY 1"
    found: dict[tuple[Any, ...], None] = {}
    for order in ("", " DESC"):
        whole = False
        with PassedOver():
            for row in db.execute(sql + order):
                found[row] = None
            whole = True
        if whole:
            break
    return list(found)


def by_key(db: apsw.Connection, table: str, columns: Sequence[str], keys: Sequence[int]) -> Iterator[tuple[Any, ...]]:
    """Yield those rows of `keys` that can be read one by one."""
    for key in keys:
        with PassedOver():
            row = db.execute(f"SELECT {', '.join(columns)} FROM {table} WHERE id = ?", (key,)).fetchone()
            if row:
                yield row


def columns(db: apsw.Connection, table: str) -> list[str]:
    """Return the columns that a table has, none where that cannot be told."""
    with PassedOver():
        return [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    return []


def last_row(db: apsw.Connection, table: str) -> int:
    """Return the highest row id that a table ever gave, as far as it can be told."""
    highest = 0
    for sql in (f"SELECT max(id) FROM {table}", f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'"):
        with PassedOver():
            found = db.execute(sql).get or 0
            highest = max(highest, found) if found <= highest + LEAP else highest
    return highest


def memories(db: apsw.Connection, images: Iterable[bytes]) -> tuple[dict[int, SealedRow], dict[int, str]]:
    """Return the sound memories by row, and the uids, where they can be read, of those that are not.

    `images` are the pages of the file, and of what else may hold some.
    """
    if columns(db, "memory") and "digest" not in columns(db, "memory"):  # as it was before there were digests
        found = rows(db, "memory", MemoryRow.columns)
        return _by_id((*row, digest(*row[: len(SEALED)])) for row in found), {}
    asked = SealedRow.columns
    read = rows(db, "memory", asked)
    good = _sound(read)
    missing = [n for n in range(1, last_row(db, "memory") + 1) if n not in good]
    good |= _sound(by_key(db, "memory", asked, missing))
    for data in images:
        good = _sound(carved(data, PAGE, CHECKSUM_BYTES, len(asked))) | good
    # The index of uids still names what the table has lost.
    named = {row: uid for uid, row in rows(db, "memory", ("uid", "id"))}
    named |= {row: seen.uid for row, seen in _by_id(read).items()}
    return good, {row: str(uid) for row, uid in named.items() if row not in good}


def _by_id(found: Iterable[tuple[Any, ...]]) -> dict[int, SealedRow]:
    return {row.id: row for row in map(SealedRow, found)}


def _sound(found: Iterable[tuple[Any, ...]]) -> dict[int, SealedRow]:
    return {row.id: row for row in map(SealedRow, found) if row.sound}


def refill(store: SqliteStore, sound: apsw.Connection, read: apsw.Connection, good: dict[int, SealedRow]) -> int:
    """Put memories, and what goes with them, into a new store; return how many receipts it has.

    `read` gives what is harmless where it is wrong, `sound` what must be right: its pages are checked.
    """
    marks = ", ".join("?" * len(SealedRow.columns))
    with store.unit() as unit:
        db = unit.db
        db.executemany(f"INSERT INTO memory({SealedRow.listed()}) VALUES ({marks})", good.values())
        db.execute("DELETE FROM sqlite_sequence WHERE name = 'memory'")
        highest = max([last_row(read, "memory"), *good])
        db.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('memory', ?)", (highest,))
        for source, table, width, where in _BESIDE:
            sql = f"INSERT OR IGNORE INTO {table} VALUES ({', '.join('?' * width)})"
            for row in rows(sound if source == "sound" else read, table, where=where):
                with PassedOver():
                    db.execute(sql, row)
        db.execute("DELETE FROM meta WHERE key LIKE ?", (FILLED + "%",))
        # A memory without a receipt would be made again of a note that waits.
        db.execute(
            "INSERT OR IGNORE INTO receipt(note, at, outcome, facts)"
            " SELECT note, recorded_at, 'stored', count(*) FROM memory GROUP BY note"
        )
        db.executemany(
            "INSERT OR IGNORE INTO link SELECT ?1, ?2, ?3, ?4, ?5"
            " WHERE EXISTS (SELECT 1 FROM memory WHERE id = ?1) AND EXISTS (SELECT 1 FROM memory WHERE id = ?3)",
            rows(sound, "link", where=_KEPT_LINKS),
        )
        naming: list[Any] = db.execute("SELECT id, entities FROM memory WHERE status <> 'review'").fetchall()
        for memory, entities in naming:
            unit.mention(memory, json.loads(entities))
        return int(db.execute("SELECT count(*) FROM receipt").get)
