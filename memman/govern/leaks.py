"""Where in a database texts stand, which of them hold a secret, and taking it out of them."""

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import apsw

from memman.secrets import suspicious
from memman.secrets.leaks import Leak, leaks
from memman.secrets.matcher import redact

_STAMPED = ("agent", "session", "cwd", "repository", "revision", "host", "user")


class Place(NamedTuple):
    """Columns of a table that hold texts, or `data`: JSON with texts in it. `shown` says what a row is called."""

    table: str
    key: tuple[str, ...]
    shown: str
    texts: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


_OF_MEMORY = "(SELECT uid FROM memory WHERE memory.id = {})"
STORE = (
    Place("memory", ("id",), "uid", ("text", "summary", "origin"), ("entities", "keywords")),
    Place("receipt", ("note",), "note", _STAMPED),
    Place("log", ("id",), "memory", (), ("before", "after")),
    Place("link", ("src", "kind", "dst"), _OF_MEMORY.format("src"), ("detail",)),
    Place("alias", ("name", "means", "memory"), _OF_MEMORY.format("alias.memory"), ("name", "means")),
    Place("entity", ("id",), "'entity'", ("name",)),
)
QUEUE = (
    Place("note", ("id",), "uid", ("text", "reply", "entities", "error", *_STAMPED)),
    Place("journal", ("note", "stage"), "note", (), ("output",)),
)


class Found(NamedTuple):
    """A value that holds secrets: whose it is, where it stands, and what it is without them."""

    place: Place
    key: tuple[Any, ...]
    shown: str
    column: str
    leaks: list[Leak]
    clean: str


def found(db: apsw.Connection, places: tuple[Place, ...]) -> Iterator[Found]:
    """Look through the tables that are there, as far as they have the columns."""
    for place in places:
        columns = {name for _, name, *_ in db.execute(f"PRAGMA table_info({place.table})").fetchall()}
        for column in place.texts + place.data:
            if column in columns:
                yield from _in_column(db, place, column)


def _in_column(db: apsw.Connection, place: Place, column: str) -> Iterator[Found]:
    width = len(place.key)
    sql = f"SELECT {', '.join(place.key)}, {place.shown}, {column} FROM {place.table} WHERE {column} <> ''"
    rows: list[Any] = db.execute(sql).fetchall()
    for *row, value in rows:
        if not (isinstance(value, str) and suspicious(value)):
            continue
        clean, held = _looked(value, data=column in place.data)
        if held:
            yield Found(place, tuple(row[:width]), str(row[width]), column, held, clean)


def _looked(value: str, *, data: bool) -> tuple[str, list[Leak]]:
    held: list[Leak] = []

    def without(text: str) -> str:
        held.extend(leaks(text))
        return redact(text)

    if not data:
        return without(value), held
    try:
        clean = json.dumps(_through(json.loads(value), without), ensure_ascii=False, separators=(",", ":"))
    except (ValueError, RecursionError):
        clean = without(value)
    return clean, held


def _through(value: Any, change: Callable[[str], str]) -> Any:
    """Change every string in JSON."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _through(one, change) for name, one in value.items()}
    return [_through(one, change) for one in value] if isinstance(value, list) else value


def mend(db: apsw.Connection, one: Found) -> None:
    """Write a value without its secrets, in the caller's transaction."""
    table, keyed = one.place.table, " AND ".join(f"{name} = ?" for name in one.place.key)
    if table == "alias":
        db.execute(f"DELETE FROM alias WHERE {keyed}", one.key)
        return
    db.execute(f"UPDATE OR IGNORE {table} SET {one.column} = ? WHERE {keyed}", (one.clean, *one.key))
    if table == "entity":
        _join(db, one.key[0], one.clean)


def _join(db: apsw.Connection, entity: int, name: str) -> None:
    """Give the mentions of an entity to the one that has its new name already, where there is one."""
    other = db.execute("SELECT id FROM entity WHERE name = ? AND id <> ?", (name, entity)).get
    if other is None:
        return
    db.execute("INSERT OR IGNORE INTO mention SELECT ?, memory FROM mention WHERE entity = ?", (other, entity))
    db.execute("DELETE FROM mention WHERE entity = ?", (entity,))
    db.execute("DELETE FROM entity WHERE id = ?", (entity,))
    db.execute("UPDATE entity SET count = (SELECT count(*) FROM mention WHERE entity = id) WHERE id = ?", (other,))


def drop_vectors(db: apsw.Connection, memory: int, kept: int) -> None:
    """Drop what other embedders than `kept` made of a memory: the next drain makes it anew."""
    for table in ("code", "vector"):
        db.execute(f"DELETE FROM {table} WHERE memory = ? AND embedder <> ?", (memory, kept))


def forget_words(db: apsw.Connection) -> None:
    """Drop what words that are gone left in the text index until its parts are merged."""
    db.execute("INSERT INTO fts(fts) VALUES ('optimize')")


def note(db: apsw.Connection, at: int, uid: str, rules: str) -> None:
    """Write into the log that secrets were taken out of a memory, and of which kinds."""
    why = json.dumps({"why": rules}, ensure_ascii=False)
    db.execute("INSERT INTO log(at, verb, memory, after) VALUES (?, 'redact', ?, ?)", (at, uid, why))
