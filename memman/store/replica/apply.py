"""Rows of a server brought into a replica, and what it works out from them. Runs inside its caller's transaction."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import apsw

from memman.embed.codes import sign_code
from memman.embed.static import PLANES
from memman.model.vocabulary import HIDDEN
from memman.sqlite import LISTED, id_list
from memman.store.sqlite import typed
from memman.store.sqlite.schema import HIDDEN_CELL
from memman.store.sqlite.unit import SqliteUnit
from memman.store.tables import TABLES, Row, Table

# Table -> (its changed groups, the rows that these have now).
Changes = Mapping[str, tuple[Sequence[Any], Sequence[Row]]]

# What is done for the changed groups of a table before their rows are stored, where that is more than deleting them.
# A memory's row is written over: the order of rows and the number of a deleted one are kept.
_EMBEDDERS = "embedder IN (SELECT id FROM embedder)"
_COUNTED = f"(SELECT entity, count(*) AS n FROM mention WHERE memory {LISTED} GROUP BY entity)"
_CLEAR = {
    "memory": (),
    "vector": (f"DELETE FROM vector WHERE {_EMBEDDERS} AND memory {LISTED}",),
    "mention": (
        f"UPDATE entity SET count = count - n FROM {_COUNTED} c WHERE c.entity = entity.id",
        f"DELETE FROM mention WHERE memory {LISTED}",
    ),
    "rejected": (f"DELETE FROM rejected WHERE lower(hex(digest)) {LISTED}",),
}
# How a row is stored, where that is more than its columns.
_SCOPE = "INSERT INTO scope(repository, path) VALUES (:repository, :path) ON CONFLICT DO NOTHING"
_RULE = (
    "INSERT INTO rule SELECT :id, :uid, :text, :tool, :pattern, :action, id, :memory, :made_at, :ends_at,"
    " :snoozed_until, :hits, :hit_at FROM scope WHERE repository = :repository AND path = :path"
)
_SIZE = f"(SELECT {PLANES} * ((dimension + 7) / 8) FROM embedder WHERE id = :embedder)"
_VECTOR = (
    "INSERT OR REPLACE INTO vector SELECT :embedder, :memory, :cell, :planes, :squares"
    f" WHERE :squares = 0 OR length(:planes) = coalesce({_SIZE}, length(:planes))"
)
_STORE = {
    "scoped": (
        _SCOPE,
        "INSERT OR REPLACE INTO scoped SELECT :memory, id FROM scope WHERE repository = :repository AND path = :path",
    ),
    "mention": (
        "INSERT INTO entity(name, count) VALUES (:name, 1) ON CONFLICT (name) DO UPDATE SET count = count + 1",
        "INSERT INTO mention SELECT id, :memory FROM entity WHERE name = :name",
    ),
    "rule": (
        _SCOPE,
        _RULE,
    ),
    "rejected": ("INSERT INTO rejected VALUES (unhex(:digest), :at)",),
    "vector": (_VECTOR,),
}
# What those raise who read a list that no memman has written.
_UNREADABLE = (ValueError, TypeError, RecursionError)


def apply(db: apsw.Connection, changes: Changes) -> None:
    """Have the changed groups of each table say what the server says, and bring what is made of them up to date.

    A row that cannot be, as a member's SQL may write one, is left out.
    """
    came = list(changes.get("memory", ((), ()))[0])
    beside = SqliteUnit(db).touched(sorted(_there(db, came)))
    moved = {*came, *changes.get("vector", ((), ()))[0], *_vectors_of(db, changes.get("embedder", ((), ()))[0])}
    _drop_codes(db, moved)
    for name, (groups, rows) in changes.items():
        table = TABLES[name]
        listed = json.dumps(list(groups), ensure_ascii=False)
        for sql in _CLEAR.get(name, (f"DELETE FROM {name} WHERE {table.group} {LISTED}",)):
            db.execute(sql, (listed,))
        for sql in _STORE.get(name) or (_plain(table),):
            for row in rows:
                with suppress(apsw.ConstraintError, *_UNREADABLE):
                    values = dict(zip(table.columns, row, strict=True))
                    if name == "memory":
                        " ".join((*json.loads(values["entities"]), *json.loads(values["keywords"]))).encode()
                    db.execute(sql, values)
    _drop_memories(db, *changes.get("memory", ((), ())))
    _put_codes(db, moved)
    _drop_unused(db)
    unit = SqliteUnit(db)
    unit.index(unit.touched(sorted(_there(db, {*came, *beside}))))


def _plain(table: Table) -> str:
    values = ", ".join(f":{name}" for name in table.columns)
    return f"INSERT OR REPLACE INTO {table.name}({', '.join(table.columns)}) VALUES ({values})"


def _there(db: apsw.Connection, memories: Iterable[int]) -> set[int]:
    return {memory for (memory,) in db.execute(f"SELECT id FROM memory WHERE id {LISTED}", (id_list(memories),))}


def _vectors_of(db: apsw.Connection, embedders: Sequence[int]) -> set[int]:
    """Return the memories whose vectors were here before it was known who made them."""
    return {
        memory for (memory,) in db.execute(f"SELECT memory FROM vector WHERE embedder {LISTED}", (id_list(embedders),))
    }


def _drop_memories(db: apsw.Connection, groups: Sequence[int], rows: Sequence[Row]) -> None:
    """Delete the memories that are no more, out of the text index too, and edges to them that only we saw."""
    kept = {row[0] for row in rows}
    gone = id_list(memory for memory in groups if memory not in kept)
    db.execute(f"DELETE FROM fts WHERE rowid {LISTED}", (gone,))
    db.execute(f"DELETE FROM link WHERE src {LISTED} OR dst {LISTED}", (gone, gone))
    typed.drop(db, gone)
    db.execute(f"DELETE FROM memory WHERE id {LISTED}", (gone,))


def _drop_codes(db: apsw.Connection, memories: Iterable[int]) -> None:
    """Drop the sign codes of memories, found by where their vectors are."""
    sql = f"SELECT embedder, memory, cell FROM vector WHERE {_EMBEDDERS} AND memory {LISTED}"
    rows = db.execute(sql, (id_list(memories),)).fetchall()
    db.executemany(f"DELETE FROM code WHERE embedder = ? AND memory = ? AND cell IN (?, {HIDDEN_CELL})", rows)


def _put_codes(db: apsw.Connection, memories: Iterable[int]) -> None:
    """Put the sign codes of memories where their vectors are, those of hidden ones out of sight."""
    sql = (
        f"SELECT embedder, iif(status IN {HIDDEN}, {HIDDEN_CELL}, cell), memory, planes FROM vector"
        f" JOIN memory m ON m.id = memory WHERE {_EMBEDDERS} AND memory {LISTED} AND squares <> 0"
    )
    found: list[Any] = db.execute(sql, (id_list(memories),)).fetchall()
    db.executemany("INSERT INTO code VALUES (?, ?, ?, ?)", [(*at, sign_code(planes)) for *at, planes in found])


def _drop_unused(db: apsw.Connection) -> None:
    db.execute("DELETE FROM entity WHERE count <= 0")
    db.execute(
        "DELETE FROM scope WHERE id AND NOT EXISTS (SELECT 1 FROM scoped WHERE scope = scope.id)"
        " AND NOT EXISTS (SELECT 1 FROM rule WHERE scope = scope.id)"
    )
