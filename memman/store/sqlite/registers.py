"""What hosts tell one another of a store: values, each of one part of one thing, that name memories by uid.

A part of a memory is named by what it is, and where there may be several by their key: `status`, `link ["causal",UID]`.
What each host works out for itself is none: vectors of this machine, whether a file has changed, text index, rows.
Functions run inside the transaction of their caller.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import apsw

from memman.model.vocabulary import EDGE_KINDS, MAYBE, REPLACED, SPREAD
from memman.secrets import SCREEN
from memman.store.sqlite import images, linkers, load
from memman.store.sqlite.dump import LISTS, SIDES, columns, marks_of, memories, receipts, rejected, rules, settings
from memman.store.sqlite.schema import UNIT_WEIGHT
from memman.store.sqlite.unit import SqliteUnit

# The kinds of things. What was purged, and by which digests it is known again, is the data folder's and no store's.
MEMORY, NOTE, RULE, REJECTED, SETTING, PURGED, DIGEST, KEY = (
    "memory", "note", "rule", "rejected", "setting", "purged", "digest", "key",
)  # fmt: skip
# The kind of thing, whose the value is, and which part of it.
Place = tuple[str, str, str]
TEXT, STATUS = "text", "status"
_SAID = (
    *("note", "text", "category", "importance", "entities", "keywords", "summary", "source", "origin"),
    *("valid_from", "recorded_at"),
)
_STATE = ("status", "valid_to", "retired_at", "superseded_by")
# Tables that have one row of a memory at most.
_SINGLE = ("freshness", "authorship")
# Of the rows beside a memory, what tells them apart.
_KEYS = {"evidence": ("kind", "session"), "shown": ("session", "way"), "file": ("path",)}
_LOCAL = {"file": ("changed_at",)}
_HITS = ("hits", "hit_at")
Parts = dict[str, Any]


def of_memories(db: apsw.Connection, rows: Iterable[int]) -> Iterator[tuple[str, Parts]]:
    """Yield the uid and the values of each memory of some rows."""
    for record in memories(db, vectors=True, among=rows):
        yield record["uid"], _parts(record)


def _parts(record: Mapping[str, Any]) -> Parts:
    found: Parts = {TEXT: {name: record[name] for name in _SAID}, STATUS: {name: record[name] for name in _STATE}}
    if record["uses"]:
        found["uses"] = record["uses"]
    if record["scope"]:
        found["scope"] = record["scope"]
    if "aliases" in record:
        found["aliases"] = record["aliases"]
    for name, value in record["marks"].items():
        found[mark(name)] = value
    found |= {table: one for table in _SINGLE for one in record.get(table, ())}
    for table, key in _KEYS.items():
        for one in record.get(table, ()):
            found[_part(table, *(one[name] for name in key))] = _without(one, (*key, *_LOCAL.get(table, ())))
    for one in record.get("links", ()):
        found[_part("link", one["kind"], one["to"])] = _without(one, ("kind", "to"))
    for one in record.get("vectors", ()):
        made = _part("vector", one["provider"], one["model"], str(one["dimension"]))
        found[made] = {name: one[name] for name in ("planes", "squares")}
    return found


def marks(db: apsw.Connection) -> Iterator[tuple[str, str, Any]]:
    """Yield the uid, the part and the value of every mark of a memory."""
    for uid, named in marks_of(db, {uid for (uid,) in db.execute("SELECT uid FROM memory")}).items():
        yield from ((uid, mark(name), value) for name, value in named.items())


def of_others(db: apsw.Connection, since: int = 0) -> Iterator[tuple[Place, Any]]:
    """Yield the values of all that is no memory: receipts, rules, what was rejected, settings; receipts of `since`."""
    uids: dict[int, str] = dict(db.execute("SELECT id, uid FROM memory"))
    for record in receipts(db, since):
        yield (NOTE, record.pop("note"), ""), record | {"changed": _renamed(record["changed"], uids)}
    for record in rules(db):
        uid = record.pop("uid")
        yield (RULE, uid, TEXT), _without(record, _HITS)
        if record["hits"]:
            yield (RULE, uid, "hits"), {name: record[name] for name in _HITS}
    for record in rejected(db):
        yield (REJECTED, record["digest"], ""), record["at"]
    for record in settings(db):
        yield (SETTING, record.pop("key"), ""), record


def _renamed(changed: str, uids: Mapping[int, str]) -> str:
    """Have what a note changed name memories by uid."""
    return _images(changed, lambda row: uids.get(int(row), images.GONE))


def _images(changed: str, place: Callable[[Any], Any]) -> str:
    """Have what a note changed name memories anew, without what it changed of those that are gone."""
    moved = (images.moved(one, place) for one in json.loads(changed or "[]"))
    left = [one for one in moved if images.GONE not in images.named(*one[:2])]
    return json.dumps(left, ensure_ascii=False, separators=(",", ":")) if left else ""


def mark(name: str) -> str:
    """Return the part of a memory that a setting named after it is."""
    return _part("mark", name.rstrip(":"))


def _part(what: str, *key: str) -> str:
    return f"{what} {json.dumps(key, ensure_ascii=False, separators=(',', ':'))}"


def _split(part: str) -> tuple[str, list[str]]:
    what, _, key = part.partition(" ")
    return what, json.loads(key or "[]")


def _without(record: Mapping[str, Any], names: Iterable[str]) -> Parts:
    return {name: value for name, value in record.items() if name not in names}


def names(part: str, value: Any) -> str:
    """Return the uid of the other memory that a value of a memory names, '' for none."""
    what, key = _split(part)
    if what == "link":
        return key[-1]
    if part == STATUS:
        return (value and value["superseded_by"]) or ""
    return value or "" if part == mark(MAYBE) else ""


def insert(db: apsw.Connection, uid: str, said: Parts, state: Parts) -> int:
    """Store a memory behind all others; return its row."""
    values = {"uid": uid, **_columns(said), **state, "superseded_by": None, "screened": SCREEN}
    sql = f"INSERT INTO memory({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) RETURNING id"
    row: int = db.execute(sql, tuple(values.values())).get
    db.execute("INSERT INTO scoped VALUES (?, 0)", (row,))
    linkers.mark(db, "", row, row)
    return row


def _columns(said: Parts) -> Parts:
    return {name: said[name] for name in _SAID} | {
        name: json.dumps(said[name], ensure_ascii=False, separators=(",", ":")) for name in LISTS
    }


def put(unit: SqliteUnit, uid: str, part: str, value: Any, rows: Mapping[str, int]) -> bool:
    """Have a part of a memory be of a value, None for none; False where a memory that it names is not there."""
    other = names(part, value)
    there = not other or other in rows
    what, key = _split(part)
    if there or part == STATUS:
        _PUT[what](_At(unit, uid, rows[uid], key, rows), value)
    return there


class _At(NamedTuple):
    """Where a value belongs: a memory, its row, the key of the part, and the rows of all memories by uid."""

    unit: SqliteUnit
    uid: str
    row: int
    key: list[str]
    rows: Mapping[str, int]


def _put_text(at: _At, value: Any) -> None:
    if value is not None:
        _update(at.unit.db, at.row, _columns(value) | {"screened": SCREEN})


def _put_status(at: _At, value: Any) -> None:
    if value is not None:
        _update(at.unit.db, at.row, value | {"superseded_by": at.rows.get(value["superseded_by"])})


def _put_uses(at: _At, value: Any) -> None:
    _update(at.unit.db, at.row, {"uses": value or 0})


def _put_scope(at: _At, value: Any) -> None:
    at.unit.db.execute("INSERT OR REPLACE INTO scoped VALUES (?, ?)", (at.row, load.scope(at.unit.db, value or {})))


def _put_aliases(at: _At, value: Any) -> None:
    at.unit.db.execute("DELETE FROM alias WHERE memory = ?", (at.row,))
    pairs = [(name, means, at.row) for name, means in value or ()]
    at.unit.db.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?, ?)", pairs)


def _put_mark(at: _At, value: Any) -> None:
    at.unit.set_meta(f"{at.key[0]}:{at.uid}", value)


def _put_vector(at: _At, value: Any) -> None:
    if value is not None:
        provider, model, dimension = at.key
        made = {"provider": provider, "model": model, "dimension": int(dimension), **value}
        load.put_vectors(at.unit, [{"uid": at.uid, "vectors": [made]}], at.rows)


def _put_link(at: _At, value: Any) -> None:
    if at.key[0] not in EDGE_KINDS or at.key[1] not in at.rows:
        return
    ends = (at.row, EDGE_KINDS.index(at.key[0]), at.rows[at.key[1]])
    if value is None:
        at.unit.db.execute("DELETE FROM link WHERE src = ? AND kind = ? AND dst = ?", ends)
    else:
        values = (*ends, round(value["weight"] * UNIT_WEIGHT), value["detail"])
        at.unit.db.execute("INSERT OR REPLACE INTO link VALUES (?, ?, ?, ?, ?)", values)


def _beside(table: str, key: tuple[str, ...]) -> Callable[["_At", Any], None]:
    """Return what writes the rows that a table has of a memory."""

    def write(at: _At, value: Any) -> None:
        db, named = at.unit.db, dict(zip(("memory", *key), (at.row, *at.key), strict=True))
        if value is None:
            where = " AND ".join(f"{name} = ?" for name in named)
            db.execute(f"DELETE FROM {table} WHERE {where}", tuple(named.values()))
            return
        there = columns(db, table)
        values = named | {name: one for name, one in value.items() if name in there}
        changed = ", ".join(f"{name} = excluded.{name}" for name in values if name not in named)
        db.execute(
            f"INSERT INTO {table}({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
            f" ON CONFLICT DO UPDATE SET {changed}",
            tuple(values.values()),
        )

    return write


_PUT: Mapping[str, Callable[[_At, Any], None]] = {
    TEXT: _put_text,
    STATUS: _put_status,
    "uses": _put_uses,
    "scope": _put_scope,
    "aliases": _put_aliases,
    "mark": _put_mark,
    "vector": _put_vector,
    "link": _put_link,
    **{table: _beside(table, _KEYS.get(table, ())) for table in SIDES},
}


def known(part: str) -> bool:
    """Whether this memman knows a part of a memory; a newer one may tell of others."""
    return _split(part)[0] in _PUT


def put_other(unit: SqliteUnit, place: Place, value: Any, rows: Mapping[str, int]) -> bool:
    """Have what is no memory be of a value; False where a memory that it names is not there."""
    kind, whose, part = place
    if kind == NOTE and value is not None:
        absent: set[Any] = set()

        def row(uid: Any) -> int:
            if uid != images.GONE and uid not in rows:
                absent.add(uid)
            return rows.get(uid, images.GONE)

        _replace(unit.db, "receipt", {"note": whose, **value, "changed": _images(value["changed"], row)})
        return not absent
    if kind == RULE:
        _put_rule(unit.db, whose, part, value)
    elif kind == REJECTED:
        unit.db.execute("DELETE FROM rejected WHERE digest = unhex(?)", (whose,))
        if value is not None:
            unit.db.execute("INSERT INTO rejected VALUES (unhex(?), ?)", (whose, value))
    elif kind == SETTING and whose.startswith((SPREAD, REPLACED)):
        return _put_setting(unit, whose, value, rows)
    return True


def _put_rule(db: apsw.Connection, uid: str, part: str, value: Any) -> None:
    if part == "hits":
        hits = value or dict.fromkeys(_HITS)
        db.execute("UPDATE rule SET hits = ?, hit_at = ? WHERE uid = ?", (hits["hits"] or 0, hits["hit_at"], uid))
    elif value is None:
        db.execute("DELETE FROM rule WHERE uid = ?", (uid,))
    else:
        there = columns(db, "rule")
        values = {name: one for name, one in value.items() if name in there}
        values |= {"uid": uid, "scope": load.scope(db, value["scope"])}
        marks = ", ".join("?" * len(values))
        changed = ", ".join(f"{name} = excluded.{name}" for name in values)
        sql = f"INSERT INTO rule({', '.join(values)}) VALUES ({marks}) ON CONFLICT (uid) DO UPDATE SET {changed}"
        db.execute(sql, tuple(values.values()))


def _put_setting(unit: SqliteUnit, key: str, value: Any, rows: Mapping[str, int]) -> bool:
    if value is None or "value" in value:
        unit.set_meta(key, value and value["value"])
        return True
    if value["memory"] in rows:
        unit.set_meta(key, f"{rows[value['memory']]} {value['since']}")
        return True
    return False


def _replace(db: apsw.Connection, table: str, values: Parts) -> None:
    there = columns(db, table)
    values = {name: one for name, one in values.items() if name in there}
    sql = f"INSERT OR REPLACE INTO {table}({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    db.execute(sql, tuple(values.values()))


def _update(db: apsw.Connection, row: int, values: Parts) -> None:
    changed = ", ".join(f"{name} = ?" for name in values)
    db.execute(f"UPDATE memory SET {changed} WHERE id = ?", (*values.values(), row))
