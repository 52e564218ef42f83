"""Rows in the order of time, in the caller's transaction: recall breaks ties by row (docs/adr/0045)."""

import json
from collections.abc import Mapping
from typing import Any

import apsw

from memman.model.vocabulary import REPLACED, UNDONE
from memman.store.sqlite import images, linkers
from memman.store.sqlite.seal import reseal

# Where memories are named, by the columns that do.
_NAMED = (
    *(("memory", "id"), ("memory", "superseded_by"), ("link", "src"), ("link", "dst"), ("alias", "memory")),
    *(("mention", "memory"), ("code", "memory"), ("vector", "memory"), ("scoped", "memory"), ("freshness", "memory")),
    *(("file", "memory"), ("evidence", "memory"), ("shown", "memory"), ("authorship", "memory")),
    *(("typed_for", "memory"), ("outdated", "memory")),
)


def moves(db: apsw.Connection) -> dict[int, int]:
    """Return old row and new row of each memory that is not where time puts it: (recorded_at, uid), without a gap."""
    rows = db.execute("SELECT id FROM memory ORDER BY recorded_at, uid")
    return {old: new for new, (old,) in enumerate(rows, 1) if old != new}


def passed(found: Mapping[int, int], rows: list[int]) -> list[int]:
    """Return those of `rows`, in their order, that others of them come before or after now and did not."""
    now = sorted(rows, key=lambda row: found.get(row, row))
    return [old for old, new in zip(rows, now, strict=True) if old != new]


def renumber(db: apsw.Connection, found: Mapping[int, int]) -> None:
    """Move memories to other rows, wherever they are named. The text index lacks them afterwards."""
    if not found:
        return
    known = {row: found.get(row, row) for (row,) in db.execute("SELECT id FROM memory")}
    db.executemany("DELETE FROM fts WHERE rowid = ?", [(old,) for old in found])
    db.execute("CREATE TEMP TABLE IF NOT EXISTS moved(old INTEGER PRIMARY KEY, new INTEGER NOT NULL)")
    db.execute("DELETE FROM moved")
    db.executemany("INSERT INTO moved VALUES (?, ?)", list(found.items()))
    # Through numbers that no row has: the new place of one is the old place of another.
    for table, column in _NAMED:
        db.execute(
            f"UPDATE {table} SET {column} = -(SELECT new FROM moved WHERE old = {column})"
            f" WHERE {column} IN (SELECT old FROM moved)"
        )
    for table, column in _NAMED:
        db.execute(f"UPDATE {table} SET {column} = -{column} WHERE {column} < 0")
    reseal(db, "id IN (SELECT new FROM moved) OR superseded_by IN (SELECT new FROM moved)")
    db.execute("UPDATE sqlite_sequence SET seq = (SELECT max(id) FROM memory) WHERE name = 'memory'")
    linkers.mark(db, "", min(found.values()), max(found.values()))
    _rewrite_log(db)
    _rewrite_images(db, known)
    db.execute("DELETE FROM moved")


def renumber_rules(db: apsw.Connection) -> None:
    """Put the rules in the order of (made_at, uid), in which lists show them."""
    ordered: list[Any] = db.execute("SELECT * FROM rule ORDER BY made_at, uid").fetchall()
    if [row[0] for row in ordered] == list(range(1, len(ordered) + 1)):
        return
    db.execute("DELETE FROM rule")
    marks = ", ".join("?" * len(ordered[0]))
    db.executemany(f"INSERT INTO rule VALUES ({marks})", [(n, *row[1:]) for n, row in enumerate(ordered, 1)])
    db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'rule'", (len(ordered),))


def _rewrite_log(db: apsw.Connection) -> None:
    for side in ("before", "after"):
        by = f"json_extract({side}, '$.superseded_by')"
        db.execute(
            f"UPDATE log SET {side} = json_set({side}, '$.superseded_by', (SELECT new FROM moved WHERE old = {by}))"
            f" WHERE instr({side}, '\"superseded_by\"') AND {by} IN (SELECT old FROM moved)"
        )


def _rewrite_images(db: apsw.Connection, known: Mapping[int, int]) -> None:
    """Have receipts, undos and notes that are still to come name the new rows; `known` has that of each old one."""

    def place(row: Any) -> int:
        return known.get(int(row), images.GONE)

    def rewritten(said: Any) -> str:
        return json.dumps([images.moved(one, place) for one in said], ensure_ascii=False, separators=(",", ":"))

    receipts: list[Any] = db.execute("SELECT note, changed FROM receipt WHERE changed <> ''").fetchall()
    rows = [(rewritten(json.loads(said)), note) for note, said in receipts]
    db.executemany("UPDATE receipt SET changed = ? WHERE note = ?", rows)
    undone: list[Any] = db.execute(f"SELECT key, value FROM meta WHERE key GLOB '{UNDONE}*'").fetchall()
    for key, said in undone:
        record = json.loads(said)
        record["images"] = [images.moved(one, place) for one in record["images"]]
        value = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (value, key))
    waiting: list[Any] = db.execute(f"SELECT key, value FROM meta WHERE key GLOB '{REPLACED}*'").fetchall()
    for key, said in waiting:
        row, _, since = said.partition(" ")
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (f"{place(row)} {since}", key))
