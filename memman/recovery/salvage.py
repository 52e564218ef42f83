"""What can still be read of a damaged store or queue, row by row, and a new one filled with it.

SQLite's own `.recover` is in no build of apsw. Pages are read whatever their checksums say: memories and notes are
judged by their digests, and the rest of a store gives way to what is made anew of them.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from memman.config.places import open_file
from memman.config.tombstones import Tombstones
from memman.model.vocabulary import CLAIMS, EDGE_KINDS, HELD, MAYBE, NEWER, PROTECTED, REPLACED, UNDONE
from memman.queue.damage import DAMAGED, STATES, readable, register_reading_functions
from memman.queue.seal import DIGEST
from memman.sqlite import Transaction, TranslatedErrors, checkpoint, trust_pages
from memman.store import MemoryRow
from memman.store.sqlite.dump import SIDES
from memman.store.sqlite.seal import SEALED, sound
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import MANUAL

Row = tuple[Any, ...]
PAGE = 4096
# Where a first page says how many pages there are; where it says nothing, SQLite goes by the file's length.
_SIZE = 28
# Row ids beyond what may have been given since the last that is there are a damaged sequence's.
_LEAP = 10_000_000
# Errors after which all may be well once more, and those of reading that are the file's own.
_ELSEWHERE = (apsw.FullError, apsw.NoMemError, apsw.CantOpenError, apsw.BusyError)
_ITS_OWN = (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ)
# What goes with memories, and which rows of it: settings that drains do not work out again, lines of the log that can
# be read, links that no rebuild makes again.
_MARKS = " OR ".join(f"key GLOB '{mark}*'" for mark in (HELD, PROTECTED, MAYBE, CLAIMS, REPLACED, UNDONE))
_LEGIBLE = "coalesce(json_valid(before), 1) AND coalesce(json_valid(after), 1)"
# A memory that has lost what it holds for holds for the repository that its note was made in.
_BY_RECEIPT = """
INSERT INTO scope(repository) SELECT DISTINCT r.repository FROM memory m JOIN receipt r ON r.note = m.note
    WHERE r.repository <> '' ORDER BY m.id ON CONFLICT DO NOTHING;
INSERT INTO scoped SELECT m.id, coalesce(s.id, 0) FROM memory m LEFT JOIN receipt r ON r.note = m.note
    LEFT JOIN scope s ON s.repository = r.repository AND s.path = ''
    WHERE m.id NOT IN (SELECT memory FROM scoped);
"""
_KEPT_LINKS = f"kind IN ({EDGE_KINDS.index('causal')}, {EDGE_KINDS.index(NEWER)}) OR detail LIKE '{MANUAL}%'"


class SealedRow(MemoryRow):
    """A memory with the digest of what was once written."""

    __slots__ = ()
    digest: int

    @property
    def sound(self) -> bool:
        """Whether it says what was once written."""
        return sound((*self[: len(SEALED)], self.digest))


@contextmanager
def passing_over() -> Iterator[None]:
    """Go on after what damage keeps from being done; what a disk or want of room does is raised."""
    try:
        yield
    except _ELSEWHERE:
        raise
    except apsw.IOError as error:
        if getattr(error, "extendedresult", 0) not in _ITS_OWN:
            raise
    except (apsw.Error, UnicodeDecodeError, OverflowError):
        pass


def opened(path: str, new: apsw.Connection, tables: Sequence[str]) -> apsw.Connection:
    """Open a copy of a damaged file; where SQLite does not make out its tables, by the schema of the `new` one.

    Tables begin on the same pages in all files that were made by the same steps.
    """
    db = _unchecked(path)
    if all((there := columns(db, table)) and {*there} <= {*columns(new, table)} for table in tables):
        return db
    db.close()
    checkpoint(new)
    pages = [1]
    with passing_over():
        pages = [page for (page,) in new.execute("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'")]
    with open(path, "r+b", opener=open_file) as file, open(new.filename, "rb", opener=open_file) as other:
        for page in pages:
            other.seek((page - 1) * PAGE)
            file.seek((page - 1) * PAGE)
            file.write(other.read(PAGE))
        file.seek(_SIZE)
        file.write(bytes(4))
    return _unchecked(path)


def refill_store(new: SqliteStore, read: apsw.Connection, buried: Tombstones) -> tuple[int, int, tuple[str, ...]]:
    """Fill a new store with the sound memories, and what goes with them, but for what was purged.

    Return how many there are, how many receipts, and the uids, where they can be read, of those that are not sound.
    """
    found = map(SealedRow, _by_key(read, "memory", SealedRow.columns))
    good = {row.id: row for row in found if row.sound}
    named = {row: str(uid) for uid, row in _rows(read, "memory", ("uid", "id"))}
    purged = {row.id for row in good.values() if row.uid in buried.memories or row.note in buried.notes}
    with new.unit() as unit:
        db = unit.db
        for row in (row for row in good.values() if row.id not in purged):
            _insert(db, "memory", SealedRow.columns, row)
        highest = max([_last_row(read, "memory"), *good])
        db.execute("DELETE FROM sqlite_sequence WHERE name = 'memory'")
        db.execute("INSERT INTO sqlite_sequence(name, seq) VALUES ('memory', ?)", (highest,))
        for table, where in (("receipt", "1"), ("meta", _MARKS), ("log", _LEGIBLE)):
            _copy(read, db, table, where)
        # A memory without a receipt would be made again of a note that waits.
        db.execute(
            "INSERT OR IGNORE INTO receipt(note, at, outcome, facts)"
            " SELECT note, recorded_at, 'stored', count(*) FROM memory GROUP BY note"
        )
        for table in ("scope", "scoped"):
            _copy(read, db, table)
        db.execute(f"DELETE FROM scoped WHERE memory NOT IN (SELECT id FROM memory); {_BY_RECEIPT}")
        for table in ("rule", "rejected"):
            _copy(read, db, table)
        for table in SIDES:
            _copy(read, db, table)
            db.execute(f"DELETE FROM {table} WHERE memory NOT IN (SELECT id FROM memory)")
        _copy(read, db, "link", _KEPT_LINKS)
        db.execute("DELETE FROM link WHERE src NOT IN (SELECT id FROM memory) OR dst NOT IN (SELECT id FROM memory)")
        naming: list[Row] = db.execute("SELECT id, entities FROM memory WHERE status <> 'review'").fetchall()
        for memory, entities in naming:
            unit.mention(memory, json.loads(entities))
        receipts = int(db.execute("SELECT count(*) FROM receipt").get)
    return len(good) - len(purged), receipts, tuple(uid for row, uid in named.items() if row not in good)


def refill_queue(new: apsw.Connection, read: apsw.Connection) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Fill a new queue; return how many notes it has, the uids that are lost, and those that are parked as doubtful."""
    with TranslatedErrors(new.filename), Transaction(new):
        register_reading_functions(read)
        doubtful = _notes(read, new)
        for table in ("journal", "ledger", "meta"):
            _copy(read, new, table)
        kept = {str(uid) for (uid,) in new.execute("SELECT uid FROM note")}
    named = {str(uid) for uid, _ in _rows(read, "note", (readable("uid"), "id"))}
    return len(kept), tuple(sorted(named - kept)), doubtful


def columns(db: apsw.Connection, table: str) -> list[str]:
    """Return the columns that a table has, none where that cannot be told."""
    found: list[str] = []
    with passing_over():
        found += [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    return found


def _notes(read: apsw.Connection, new: apsw.Connection) -> tuple[str, ...]:
    """Take the notes; return the uids of those that are parked as doubtful."""
    there = [name for name in columns(new, "note") if name in columns(read, "note")]
    says = f"digest = {DIGEST}" if "digest" in there else "0"
    asked = [f"iif(state IN {STATES}, state, 'parked')" if name == "state" else readable(name) for name in there]
    doubtful = []
    for *row, right in _by_key(read, "note", (*asked, says)):
        note = dict(zip(there, row, strict=True))
        if not right and note["state"] not in {"done", "parked"}:
            note |= {"state": "parked", "error": DAMAGED}
            doubtful.append(str(note["uid"]))
        _insert(new, "note", there, tuple(note.values()))
    return tuple(doubtful)


def _copy(read: apsw.Connection, db: apsw.Connection, table: str, where: str = "1") -> None:
    """Take over what can be read of a table; an older file lacks the newest columns, which have defaults."""
    names = [name for name in columns(db, table) if name in columns(read, table)]
    for row in _rows(read, table, names, where):
        _insert(db, table, names, row)


def _insert(db: apsw.Connection, table: str, names: Sequence[str], row: Row) -> None:
    with passing_over():
        db.execute(f"INSERT OR IGNORE INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", row)


def _rows(db: apsw.Connection, table: str, names: Sequence[str], where: str = "1") -> Iterable[Row]:
    """Return the rows before the first that cannot be read, and those after the last."""
    found: dict[Row, None] = {}
    for order in ("", " DESC"):
        with passing_over():
            for row in db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where} ORDER BY 1{order}"):
                found[row] = None
            break
    return found


def _by_key(db: apsw.Connection, table: str, names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows that can be read one by one."""
    for key in range(1, _last_row(db, table) + 1):
        with passing_over():
            row = db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE id = ?", (key,)).fetchone()
            if row:
                yield row


def _last_row(db: apsw.Connection, table: str) -> int:
    """Return the highest row id that a table ever gave, as far as it can be told."""
    highest = 0
    for sql in (f"SELECT max(id) FROM {table}", f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'"):
        with passing_over():
            found = db.execute(sql).get or 0
            highest = max(highest, found) if found <= highest + _LEAP else highest
    return highest


def _unchecked(path: str) -> apsw.Connection:
    """Open a file, with as much of its schema as can be read, its pages taken as they are."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    with passing_over():
        trust_pages(db)
    with passing_over():
        db.execute("PRAGMA writable_schema = ON")
    return db
