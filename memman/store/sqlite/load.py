"""Rows of another store taken in, as `dump` wrote them. Functions run inside the transaction of their caller."""

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw

from memman.model.records import Fingerprint
from memman.model.vocabulary import EDGE_KINDS, HELD
from memman.secrets import SCREEN, screened
from memman.store.sqlite import linkers
from memman.store.sqlite.dump import LISTS, SIDES, Record, columns
from memman.store.sqlite.schema import UNIT_WEIGHT
from memman.store.sqlite.seal import SEALED
from memman.store.sqlite.unit import SqliteUnit

# What stands in for a column that a file does not have.
_PLAIN: Record = {"summary": "", "uses": 0, "valid_to": None, "retired_at": None}


def known(db: apsw.Connection) -> dict[str, int]:
    """Return the row of each memory, by uid."""
    return dict(db.execute("SELECT uid, id FROM memory"))


def said(db: apsw.Connection) -> dict[tuple[str, str, str], int]:
    """Return the row of each current memory by what it says and holds for."""
    sql = (
        "SELECT m.text, coalesce(s.repository, ''), coalesce(s.path, ''), m.id FROM memory m"
        " LEFT JOIN scoped ON scoped.memory = m.id LEFT JOIN scope s ON s.id = scoped.scope WHERE m.status = 'current'"
    )
    return {(text, repository, path): row for text, repository, path, row in db.execute(sql)}


def add(unit: SqliteUnit, records: Sequence[Record], rows: dict[str, int], *, in_place: bool, at: int) -> list[int]:
    """Store memories with all that the file keeps of them; put them into `rows` and return theirs, not yet indexed.

    With `in_place` each gets the row that it had, where that is free.
    """
    db, new = unit.db, {}
    for record in records:
        new[record["uid"]] = rows[record["uid"]] = _insert(db, record, in_place=in_place, at=at)
    heirs = {record["uid"]: record["superseded_by"] for record in records}
    for uid, heir in heirs.items():
        if row := _heir(heir, heirs, rows):
            db.execute("UPDATE memory SET superseded_by = ? WHERE id = ?", (row, new[uid]))
    for record in records:
        row = new[record["uid"]]
        _beside(db, record, row)
        _mark(unit, record, rows)
        unit.seal(row)
        if HELD.rstrip(":") not in record["marks"]:
            unit.mention(row, record["entities"])
        db.execute(
            "INSERT INTO log(at, verb, memory, note) VALUES (?, 'import', ?, ?)", (at, record["uid"], record["note"])
        )
    return list(new.values())


def link(unit: SqliteUnit, records: Iterable[Record], rows: Mapping[str, int], new: frozenset[int]) -> None:
    """Store the edges of which an end is new, once all memories are there; what made them is not known."""
    edges = (
        (rows[record["uid"]], edge, rows[edge["to"]])
        for record in records
        for edge in record.get("links", ())
        if edge["kind"] in EDGE_KINDS and edge["to"] in rows and record["uid"] in rows
    )
    unit.db.executemany(
        "INSERT OR IGNORE INTO link VALUES (?, ?, ?, ?, ?)",
        [
            (src, EDGE_KINDS.index(edge["kind"]), dst, round(edge["weight"] * UNIT_WEIGHT), screened(edge["detail"]))
            for src, edge, dst in edges
            if not new.isdisjoint((src, dst))
        ],
    )
    if new:
        linkers.mark(unit.db, "", min(new), max(new))


def put_vectors(unit: SqliteUnit, records: Iterable[Mapping[str, Any]], rows: Mapping[str, int]) -> None:
    """Store vectors that the file has."""
    for record in records:
        for made in record.get("vectors", ()):
            named = screened(made["provider"]), screened(made["model"])
            number = unit.embedder(Fingerprint(*named, made["dimension"]))
            unit.put_vectors(number, [(rows[record["uid"]], 0, base64.b64decode(made["planes"]), made["squares"])])


def put(db: apsw.Connection, table: str, records: Iterable[Record]) -> int:
    """Store rows that name no memory: receipts, or digests of what was rejected; return how many are new."""
    there, count = columns(db, table), 0
    for record in records:
        count += _put(db, table, {name: value for name, value in record.items() if name in there})
    return count


def put_rules(unit: SqliteUnit, records: Iterable[Record]) -> int:
    """Store rules; return how many are new."""
    return put(unit.db, "rule", (record | {"scope": scope(unit.db, record["scope"])} for record in records))


def put_setting(unit: SqliteUnit, record: Record, rows: Mapping[str, int]) -> None:
    """Store a setting, unless the store has its own."""
    value = record.get("value")
    if value is None and record["memory"] in rows:
        value = f"{rows[record['memory']]} {record['since']}"
    if value is not None:
        unit.db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (record["key"], value))


def _insert(db: apsw.Connection, record: Record, *, in_place: bool, at: int) -> int:
    names = [name for name in SEALED if name not in {"id", "superseded_by"}]
    values = _PLAIN | {name: record[name] for name in names if name in record} | {"screened": SCREEN}
    values |= {"uses": record.get("uses", 0)}
    values |= {name: json.dumps(record[name], ensure_ascii=False, separators=(",", ":")) for name in LISTS}
    free = in_place and not db.execute("SELECT 1 FROM memory WHERE id = ?", (record["row"],)).get
    values |= {"id": record["row"]} if free else {"recorded_at": at}
    sql = f"INSERT INTO memory({', '.join(values)}) VALUES ({', '.join('?' * len(values))}) RETURNING id"
    row: int = db.execute(sql, tuple(values.values())).get
    return row


def _heir(uid: str | None, heirs: Mapping[str, str | None], rows: Mapping[str, int]) -> int | None:
    """Return the row of whatever took a memory's place and is there, None for nothing."""
    passed = set()
    while uid is not None and uid not in rows and uid not in passed:
        passed.add(uid)
        uid = heirs.get(uid)
    return rows.get(uid) if uid is not None else None


def _beside(db: apsw.Connection, record: Record, row: int) -> None:
    db.execute("INSERT OR REPLACE INTO scoped VALUES (?, ?)", (row, scope(db, record["scope"])))
    pairs = [(name, means, row) for name, means in record.get("aliases", ())]
    db.executemany("INSERT OR IGNORE INTO alias VALUES (?, ?, ?)", pairs)
    for table in SIDES:
        put(db, table, ({"memory": row, **one} for one in record.get(table, ())))


def _mark(unit: SqliteUnit, record: Record, rows: Mapping[str, int]) -> None:
    for mark, value in record["marks"].items():
        if mark != "maybe" or value in rows:
            unit.set_meta(screened(f"{mark}:{record['uid']}"), value)


def scope(db: apsw.Connection, holds: Mapping[str, Any]) -> int:
    """Return the number of what a memory holds for, given where it is new."""
    named = (holds.get("repository", ""), holds.get("path", ""))
    db.execute("INSERT INTO scope(repository, path) VALUES (?, ?) ON CONFLICT DO NOTHING", named)
    number: int = db.execute("SELECT id FROM scope WHERE repository = ? AND path = ?", named).get
    return number


def _put(db: apsw.Connection, table: str, values: Record) -> int:
    sql = f"INSERT OR IGNORE INTO {table}({', '.join(values)}) VALUES ({', '.join('?' * len(values))})"
    db.execute(sql, tuple(values.values()))
    return db.changes()
