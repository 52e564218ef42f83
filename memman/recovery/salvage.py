"""What can still be read of a damaged database, row by row, and a new queue filled with it.

SQLite's own `.recover` is in no build of apsw. Pages are read whatever their checksums say: records and notes are
judged by their own.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from memman.config.places import open_file
from memman.queue.damage import DAMAGED, STATES, readable, register_reading_functions
from memman.queue.seal import DIGEST
from memman.sqlite import Transaction, TranslatedErrors, checkpoint, trust_pages

Row = tuple[Any, ...]
PAGE = 4096
# Where a first page says how many pages there are; where it says nothing, SQLite goes by the file's length.
_SIZE = 28
# Row ids beyond what may have been given since the last that is there are a damaged sequence's.
_LEAP = 10_000_000
# Bytes of the shortest row.
_LEAST = 60
# Errors after which all may be well once more, and those of reading that are the file's own.
_ELSEWHERE = (apsw.FullError, apsw.NoMemError, apsw.CantOpenError, apsw.BusyError)
_ITS_OWN = (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ)


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
    if all(columns(db, table) == columns(new, table) for table in tables):
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


def refill_queue(new: apsw.Connection, read: apsw.Connection) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Fill a new queue; return how many notes it has, the uids that are lost, and those that are parked as doubtful."""
    with TranslatedErrors(new.filename), Transaction(new):
        register_reading_functions(read)
        doubtful = _notes(read, new)
        for table in ("journal", "ledger", "meta"):
            names = columns(new, table)
            for row in rows(read, table, names):
                insert(new, table, names, row)
        kept = {str(uid) for (uid,) in new.execute("SELECT uid FROM note")}
    named = {str(uid) for uid, _ in rows(read, "note", (readable("uid"), "id"))}
    return len(kept), tuple(sorted(named - kept)), doubtful


def columns(db: apsw.Connection, table: str) -> list[str]:
    """Return the columns that a table has, none where that cannot be told."""
    found: list[str] = []
    with passing_over():
        found += [name for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]
    return found


def _notes(read: apsw.Connection, new: apsw.Connection) -> tuple[str, ...]:
    """Take the notes; return the uids of those that are parked as doubtful."""
    names = columns(new, "note")
    asked = [f"iif(state IN {STATES}, state, 'parked')" if name == "state" else readable(name) for name in names]
    doubtful = []
    for *row, right in by_key(read, "note", (*asked, f"digest = {DIGEST}")):
        note = dict(zip(names, row, strict=True))
        if not right and note["state"] not in {"done", "parked"}:
            note |= {"state": "parked", "error": DAMAGED}
            doubtful.append(str(note["uid"]))
        insert(new, "note", names, tuple(note.values()))
    return tuple(doubtful)


def insert(db: apsw.Connection, table: str, names: Sequence[str], row: Sequence[Any]) -> None:
    """Store a row, unless it has values that nothing can be."""
    with passing_over():
        db.execute(f"INSERT OR IGNORE INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", row)


def rows(db: apsw.Connection, table: str, names: Sequence[str], where: str = "1") -> list[Row]:
    """Return the rows before the first that cannot be read, and those after the last."""
    found: dict[Row, None] = {}
    for order in ("", " DESC"):
        with passing_over():
            for row in db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where} ORDER BY 1{order}"):
                found[row] = None
            break
    return list(found)


def by_key(db: apsw.Connection, table: str, names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows that can be read one by one."""
    for key in range(1, _last_row(db, table) + 1):
        with passing_over():
            row = db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE id = ?", (key,)).fetchone()
            if row:
                yield row


def _last_row(db: apsw.Connection, table: str) -> int:
    """Return the highest row id that a table has or ever gave; where nothing tells it, what a file has room for."""
    said: list[int] = []
    for sql in (f"SELECT max(id) FROM {table}", f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'"):
        with passing_over():
            found = db.execute(sql).get or 0
            said += [found] if found <= max(said, default=0) + _LEAP else []
    return max(said, default=os.path.getsize(db.filename) // _LEAST)


def _unchecked(path: str) -> apsw.Connection:
    """Open a file, with as much of its schema as can be read, its pages taken as they are."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    with passing_over():
        trust_pages(db)
    with passing_over():
        db.execute("PRAGMA writable_schema = ON")
    return db
