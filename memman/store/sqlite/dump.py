"""A store written out row by row: rows name each other by uid, so that they fit into any store."""

import base64
import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import apsw

from memman.model.vocabulary import BUILTIN, JUDGE, REPLACED
from memman.sqlite import LISTED, id_list
from memman.store import MemoryRow
from memman.store.sqlite.schema import UNIT_WEIGHT

Record = dict[str, Any]
# Tables with rows of a memory that go with it as they are.
SIDES = ("freshness", "file", "evidence", "shown", "authorship")
# How the settings begin that are the store's own and no memory's.
SPREAD = "spread:"
LISTS = ("entities", "keywords")
# What is kept of an edge and of a vector, beside whose it is.
_EDGES = (
    'SELECT e.src, m.uid AS "to", k.name AS kind, e.weight, e.detail FROM link e JOIN memory m ON m.id = e.dst'
    " JOIN edge_kind k ON k.id = e.kind{} ORDER BY e.src, e.kind, e.dst"
)
_VECTORS = (
    "SELECT v.memory, e.provider, e.model, e.dimension, v.planes, v.squares FROM vector v JOIN embedder e"
    f" ON e.id = v.embedder AND e.provider NOT IN ('{BUILTIN}', '{JUDGE}'){{}} ORDER BY v.memory, e.id"
)


class Some:
    """All memories, or those of some rows."""

    def __init__(self, rows: Iterable[int] | None) -> None:
        self._rows = None if rows is None else id_list(rows)

    def of(self, db: apsw.Connection, sql: str, column: str) -> Iterator[Any]:
        """Yield the rows of a query that has `{}` where its condition is to stand."""
        if self._rows is None:
            return db.execute(sql.format(""))
        return db.execute(sql.format(f" WHERE {column} {LISTED}"), (self._rows,))


def columns(db: apsw.Connection, table: str) -> list[str]:
    """Return the columns of a table."""
    return [name for (name,) in db.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,))]


def receipts(db: apsw.Connection, since: int = 0) -> Iterator[Record]:
    """Yield what the store recorded of each note, or of those since a moment, oldest first."""
    yield from _rows(db, "receipt", columns(db, "receipt"), "at, note", f"at >= {int(since)}" if since else "1")


def memories(db: apsw.Connection, *, vectors: bool = False, among: Iterable[int] | None = None) -> Iterator[Record]:
    """Yield every memory, or some rows', with all that is kept of it, by row, and others' `vectors`."""
    some = Some(among)
    uids = dict(db.execute("SELECT id, uid FROM memory"))
    marks, scopes = marks_of(db, set(uids.values())), _scopes(db, some)
    beside = {table: _grouped(_side(db, table, some)) for table in SIDES}
    beside["links"] = _grouped((src, _edge(edge)) for src, *edge in some.of(db, _EDGES, "e.src"))
    aliases = some.of(db, "SELECT memory, name, means FROM alias{}", "memory")
    beside["aliases"] = _grouped((n, pair) for n, *pair in aliases)
    if vectors:
        made_elsewhere = some.of(db, _VECTORS, "v.memory")
        beside["vectors"] = _grouped((memory, _vector(*made)) for memory, *made in made_elsewhere)
    for values in some.of(db, f"SELECT {MemoryRow.listed()} FROM memory{{}} ORDER BY id", "id"):
        record = MemoryRow(values).record()
        row = record.pop("id")
        record |= {name: json.loads(record[name]) for name in LISTS}
        record |= {"superseded_by": uids.get(record["superseded_by"]), "row": row}
        record |= {"scope": scopes.get(row, {}), "marks": marks.get(record["uid"], {})}
        yield record | {name: found[row] for name, found in beside.items() if row in found}


def rules(db: apsw.Connection) -> Iterator[Record]:
    """Yield the rules, oldest first, each with what it holds for."""
    scopes = {n: _scope(*named) for n, *named in db.execute("SELECT id, repository, path FROM scope")}
    for record in _rows(db, "rule", [name for name in columns(db, "rule") if name != "id"], "id"):
        yield record | {"scope": scopes.get(record["scope"], {})}


def rejected(db: apsw.Connection) -> Iterator[Record]:
    """Yield the digests of what a person rejected."""
    for digest, at in db.execute("SELECT lower(hex(digest)), at FROM rejected ORDER BY at, 1"):
        yield {"digest": digest, "at": at}


def settings(db: apsw.Connection) -> Iterator[Record]:
    """Yield the settings that recall depends on, and which memories replace notes that are not stored yet."""
    for key, value in db.execute("SELECT key, value FROM meta WHERE key GLOB ? ORDER BY key", (SPREAD + "*",)):
        yield {"key": key, "value": value}
    uids = dict(db.execute("SELECT id, uid FROM memory"))
    for key, value in db.execute("SELECT key, value FROM meta WHERE key GLOB ? ORDER BY key", (REPLACED + "*",)):
        row, _, since = value.partition(" ")
        if int(row) in uids:
            yield {"key": key, "memory": uids[int(row)], "since": since}


def remade_elsewhere(db: apsw.Connection) -> list[str]:
    """Name the embedders, other than the built-in one, that have made vectors."""
    sql = f"SELECT provider || '/' || model FROM embedder WHERE provider NOT IN ('{BUILTIN}', '{JUDGE}') ORDER BY id"
    return [name for (name,) in db.execute(sql)]


def last_change(db: apsw.Connection) -> int:
    """Return the number of the newest line of the log: it grows with every change of a memory."""
    return int(db.execute("SELECT max(id) FROM log").get or 0)


def _rows(db: apsw.Connection, table: str, names: list[str], order: str, where: str = "1") -> Iterator[Record]:
    for values in db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where} ORDER BY {order}"):
        yield dict(zip(names, values, strict=True))


def _side(db: apsw.Connection, table: str, some: "Some") -> Iterator[tuple[int, Record]]:
    names = [name for name in columns(db, table) if name != "memory"]
    sql = f"SELECT memory, {', '.join(names)} FROM {table}{{}} ORDER BY memory, 2"
    for memory, *values in some.of(db, sql, "memory"):
        yield memory, dict(zip(names, values, strict=True))


def _grouped(pairs: Iterable[tuple[int, Any]]) -> dict[int, list[Any]]:
    found: dict[int, list[Any]] = {}
    for memory, one in pairs:
        found.setdefault(memory, []).append(one)
    return found


def _edge(edge: list[Any]) -> Record:
    other, kind, weight, detail = edge
    return {"to": other, "kind": kind, "weight": weight / UNIT_WEIGHT, "detail": detail}


def _vector(provider: str, model: str, dimension: int, planes: bytes, squares: int) -> Record:
    by = {"provider": provider, "model": model, "dimension": dimension}
    return by | {"planes": base64.b64encode(planes).decode(), "squares": squares}


def marks_of(db: apsw.Connection, uids: Collection[str]) -> dict[str, dict[str, str]]:
    """Return the settings that are named after some memories, by uid: protected, maybe replaced, held back."""
    found: dict[str, dict[str, str]] = {}
    for key, value in db.execute("SELECT key, value FROM meta ORDER BY key"):
        mark, _, uid = key.partition(":")
        if uid in uids:
            found.setdefault(uid, {})[mark] = value
    return found


def _scopes(db: apsw.Connection, some: "Some") -> dict[int, Record]:
    sql = "SELECT memory, repository, path FROM scoped JOIN scope ON scope.id = scope AND repository <> ''{}"
    return {memory: _scope(*named) for memory, *named in some.of(db, sql, "memory")}


def _scope(repository: str, path: str) -> Record:
    named = {"repository": repository, "path": path}
    return {name: said for name, said in named.items() if said}
