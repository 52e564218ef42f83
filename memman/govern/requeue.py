"""A new queue, filled with what can still be read of a damaged one."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any

import apsw

from memman.config.places import open_file
from memman.queue.damage import DAMAGED, STATES, readable, teach_reading
from memman.queue.schema import STEPS
from memman.queue.seal import DIGEST
from memman.shape import fits
from memman.sqlite import Guard, Transaction, checkpoint
from memman.store.sqlite import salvage
from memman.store.sqlite.carve import carved

# Where the tables of a schema begin on a file's first page, after its header.
_TABLES = 100
# A note that is done says nothing any more, and has no digest.
_PROVEN = f"digest = {DIGEST} OR (state = 'done' AND text = '' AND digest IS NULL AND length(uid) = 32)"


def requeued(new: apsw.Connection, path: str, images: Iterable[bytes]) -> tuple[int, tuple[str, ...], tuple[str, ...]]:
    """Fill a new queue; return how many notes it has, the uids that are lost, and those that are parked as doubtful.

    `images` are all pages that there are: notes that no table leads to are found on them, and known by their digest.
    """
    checkpoint(new)
    _put_tables_right(path, new.filename)
    with closing(salvage.opened(path, checked=False)) as read, Guard(new.filename), Transaction(new):
        teach_reading(read)
        teach_reading(new)
        doubtful = _by_table(read, new)
        _by_page(images, new)
        for table in ("journal", "ledger", "meta"):
            columns = _shared(read, new, table)
            for row in salvage.rows(read, table, columns):
                _inserted(new, table, columns, row)
        kept = {str(uid) for (uid,) in new.execute("SELECT uid FROM note")}
        named = {str(uid) for uid, _ in salvage.rows(read, "note", (readable("uid"), "id"))}
        return len(kept), tuple(sorted(named - kept)), doubtful


def _put_tables_right(path: str, fresh: str) -> None:
    """Give a copy whose first page does not say which tables it has that of a new queue, where all else fits it."""
    if _looks(path, lambda db: fits(db, STEPS)):
        return
    with open(path, "r+b", opener=open_file) as file, open(fresh, "rb", opener=open_file) as other:
        said, first = file.read(salvage.PAGE), other.read(salvage.PAGE)
        file.seek(0)
        file.write(said[:_TABLES] + first[_TABLES:])
    if not _looks(path, salvage.whole):
        with open(path, "r+b", opener=open_file) as file:
            file.write(said)


def _looks(path: str, says: Callable[[apsw.Connection], bool]) -> bool:
    with salvage.PassedOver(), closing(salvage.opened(path, checked=False)) as db:
        return says(db)
    return False


def _by_table(read: apsw.Connection, new: apsw.Connection) -> tuple[str, ...]:
    """Take the notes that the table leads to; return the uids of those that are parked as doubtful."""
    there = _shared(read, new, "note")
    if not {"id", "uid", "state"} <= {*there}:
        return ()
    says = f"digest = {DIGEST}" if "digest" in there else "0"
    numbers = range(1, salvage.last_row(read, "note") + 1)
    rows = salvage.by_key(read, "note", (*map(_column, there), says), numbers)
    kept = [
        dict(zip(there, values, strict=True)) | {"proven": proven}
        for *values, proven in rows
        if _inserted(new, "note", there, values)
    ]
    doubtful = [row for row in kept if not row["proven"] and row["state"] not in {"done", "parked"}]
    for row in doubtful:
        new.execute("UPDATE note SET state = 'parked', error = ? WHERE id = ?", (DAMAGED, row["id"]))
    return tuple(str(row["uid"]) for row in doubtful)


def _by_page(images: Iterable[bytes], new: apsw.Connection) -> None:
    """Take the notes that lie on any page and prove themselves; one whose number is taken, or absurd, gets another."""
    names = salvage.columns(new, "note")
    for data in images:
        for number, *values in carved(data, salvage.PAGE, 0, len(names)):
            known = 0 < number <= salvage.last_row(new, "note") + salvage.LEAP
            if not (known and _proven(new, names, (number, *values))):
                _proven(new, names[1:], values)


def _proven(db: apsw.Connection, names: Sequence[str], row: Sequence[Any]) -> bool:
    """Take a note if it is one, and not there yet."""
    said = ", ".join(f"? AS {name}" for name in names)
    sql = f"INSERT OR IGNORE INTO note({', '.join(names)}) SELECT * FROM (SELECT {said}) WHERE {_PROVEN}"
    with salvage.PassedOver():
        db.execute(sql, tuple(row))
        return db.changes() == 1
    return False


def _column(name: str) -> str:
    """Write the SQL for a column of a note: a state that is none has it parked."""
    return f"iif(state IN {STATES}, state, 'parked')" if name == "state" else readable(name)


def _shared(read: apsw.Connection, db: apsw.Connection, table: str) -> tuple[str, ...]:
    """Return the columns of a table: an older queue lacks the newest, which have defaults."""
    names = salvage.columns(db, table)
    return tuple(name for name in salvage.columns(read, table) if name in names)


def _inserted(db: apsw.Connection, table: str, columns: tuple[str, ...], row: Sequence[Any]) -> bool:
    sql = f"INSERT OR IGNORE INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    with salvage.PassedOver():
        db.execute(sql, row)
        return db.changes() == 1
    return False
