"""Which texts of a database hold a secret, and taking it out of them."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import apsw

from memman.secrets import screened, suspicious
from memman.secrets.leaks import Leak, leaks, within
from memman.store.sqlite import record_log

# Columns that hold JSON with texts in it.
_DATA = frozenset(("entities", "keywords", "body", "output", "models", "value"))
# What a row is called, where that is not the table's name.
_UID = "(SELECT uid FROM memory WHERE memory.id = {})"
_CALLED = {"memory": "uid", "receipt": "note", "record": "memory", "rule": "uid", "note": "uid", "journal": "note"} | {
    table: _UID.format(f"{table}.{column}")
    for table, column in (("link", "src"), ("file", "memory"), ("evidence", "memory"))
}


class Found(NamedTuple):
    """A value that holds secrets: its table and row, what the row is called, and what it is without them."""

    table: str
    key: dict[str, Any]
    shown: str
    column: str
    leaks: list[Leak]
    clean: str


def found(db: apsw.Connection) -> Iterator[Found]:
    """Look through every text of every table, a column after the other: what was found may be mended in between."""
    sql = "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT GLOB 'sqlite_*'"
    tables: list[Any] = db.execute(sql).fetchall()
    for table, keyed in tables:
        columns: list[Any] = db.execute("SELECT name, type, pk FROM pragma_table_info(?)", (table,)).fetchall()
        key = tuple(name for name, _, pk in columns if pk) if keyed else ("rowid",)
        for column in (name for name, kind, _ in columns if kind == "TEXT"):
            yield from _in_column(db, table, key, column)


def _in_column(db: apsw.Connection, table: str, key: tuple[str, ...], column: str) -> Iterator[Found]:
    shown = _CALLED.get(table, f"'{table}'")
    rows: list[Any] = db.execute(
        f"SELECT {', '.join(key)}, {shown}, {column} FROM {table} WHERE {column} <> ''"
    ).fetchall()
    for *row, value in rows:
        if isinstance(value, str) and suspicious(value):
            held: list[Leak] = []
            clean = (within if column in _DATA else _whole)(value, partial(_without, held))
            if held:
                yield Found(table, dict(zip(key, row[:-1], strict=True)), str(row[-1]), column, held, clean)


def _whole(text: str, change: Callable[[str], str]) -> str:
    return change(text)


def _without(held: list[Leak], text: str) -> str:
    """Take the secrets out of a text, and say which they were."""
    held.extend(leaks(text))
    return screened(text)


def mend(db: apsw.Connection, one: Found) -> None:
    """Write a value without its secrets, in the caller's transaction; a row that says the same already is enough."""
    keyed = " AND ".join(f"{name} = :{name}" for name in one.key)
    values = one.key | {"clean": one.clean}
    db.execute(f"UPDATE OR IGNORE {one.table} SET {one.column} = :clean WHERE {keyed}", values)
    if not db.changes():
        db.execute(f"DELETE FROM {one.table} WHERE {keyed}", one.key)
    elif one.table == "record":
        record_log.reseal(db, one.key["rowid"])
