"""A store of an earlier schema brought to today's: of the first one what its rows say becomes records."""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any

import apsw

from memman.model import vocabulary
from memman.store import records
from memman.store.records import HOLDS, KIND_OF, RECEIPT, RULE, Parts, body, named
from memman.store.sqlite import record_log
from memman.store.sqlite.index import DECIDED, rewrite
from memman.store.sqlite.schema import UNIT_WEIGHT

# When, as part of which act ('' for the taking over), what it is about, the verb, and what else is said.
Change = tuple[int, str, str, str, Parts]
# The columns of the first schema that say what a memory says, lists of names last.
_LISTS = ("entities", "keywords")
_SAID = ("note", "text", "category", "importance", "summary", "source", "origin", "valid_from", "recorded_at", *_LISTS)
# How its settings began that were named after a memory, and the part of its state that each told.
_MARKS = {f"{part}:": part for part in (records.PROTECTED, records.HELD, records.MAYBE, records.CLAIMS)}
_MARKED = " OR ".join(f"key GLOB '{mark}*'" for mark in _MARKS)
_COLUMNS = """
SELECT t.name, c.name, c.type, c."notnull", c.dflt_value FROM sqlite_master t, pragma_table_info(t.name) c
WHERE t.type = 'table'
"""


def take_over(db: apsw.Connection, statements: str) -> None:
    """Bring a store of the first schema to the tables of schema.sql; its log begins with what its rows say."""
    held = dict(db.execute("SELECT memory, coalesce(after ->> '$.why', '') FROM log WHERE verb = 'hold'"))
    db.execute(
        "DROP TABLE log; DROP TABLE alias; ALTER TABLE memory DROP COLUMN digest;"
        "ALTER TABLE receipt DROP COLUMN changed"
    )
    sql = "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'sync_*'"
    synced: list[Any] = db.execute(sql).fetchall()
    for (name,) in synced:
        db.execute(f"DROP TABLE {name}")
    complete(db, statements)
    uids = dict(db.execute("SELECT id, uid FROM memory"))
    changes = [*_notes(db), *_memories(db, uids, held), *_rules(db), *_refused(db)]
    taken = records.TAKEN_OVER + record_log.host(db)  # two machines take over each its own store: two acts
    for at, act, uid, how, said in sorted(changes, key=lambda change: change[0]):
        record_log.append(db, at, act or taken, uid, KIND_OF[how], body(how, **said))
    sql = f"DELETE FROM meta WHERE {_MARKED} RETURNING substr(key, instr(key, ':') + 1)"
    marked = {str(uid) for (uid,) in db.execute(sql).fetchall()}
    rewrite(db, sorted(marked & {*uids.values()}))
    db.execute(f"DELETE FROM meta WHERE key GLOB '{vocabulary.UNDONE}*'")
    replaced: list[Any] = db.execute(f"SELECT key, value FROM meta WHERE key GLOB '{vocabulary.REPLACED}*'").fetchall()
    for key, value in replaced:
        row, _, since = value.partition(" ")
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (f"{uids.get(int(row), '')} {since}", key))


def complete(db: apsw.Connection, statements: str) -> None:
    """Add the tables, indexes and columns of schema.sql that a store lacks, and drop the tables it needs no more."""
    db.execute("DROP TABLE IF EXISTS mention; DROP TABLE IF EXISTS entity")
    db.execute("DROP TABLE IF EXISTS typed_for; DROP TABLE IF EXISTS typed")
    with closing(apsw.Connection(":memory:")) as model:
        model.execute(statements)
        there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
        columns = {(table, column) for table, column, *_ in db.execute(_COLUMNS)}
        for table, column, kind, needed, default in model.execute(_COLUMNS):
            if table in there and (table, column) not in columns:
                value = f"NOT NULL DEFAULT {default}" if needed else ""
                db.execute(f"ALTER TABLE {table} ADD COLUMN {column} {kind} {value}")
        for name, sql in model.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
            if name not in there:
                db.execute(sql)


def _notes(db: apsw.Connection) -> Iterator[Change]:
    """Yield what became of each note."""
    names = [name for (name,) in db.execute("SELECT name FROM pragma_table_info('receipt')")]
    for row in db.execute(f"SELECT {', '.join(names)} FROM receipt"):
        said = {name: value for name, value in zip(names, row, strict=True) if value}
        note = said.pop("note")
        yield said["at"], note, note, "note", {"set": {RECEIPT: said}}


def _memories(db: apsw.Connection, uids: Mapping[int, str], held: Mapping[str, str]) -> Iterator[Change]:
    """Yield what each memory says, and how it stands by now: what replaced it is an act of its heir's note.

    `held` tells why some wait for a person.
    """
    names = ("id", "uid", *HOLDS, *_SAID)
    rows: list[Any] = db.execute(f"SELECT {', '.join(names)} FROM memory ORDER BY id").fetchall()
    notes = dict(db.execute("SELECT id, note FROM memory"))
    for values in rows:
        row = dict(zip(names, values, strict=True))
        heir, uid = row["superseded_by"], row["uid"]
        said = {name: row[name] for name in _SAID} | {name: json.loads(row[name]) for name in _LISTS}
        status = {name: row[name] for name in HOLDS} | {"superseded_by": uids.get(heir)}
        began, how, now = HOLDS, "add", {}
        if status["status"] == "review":
            began, how, now = status, "hold", {"why": held.get(uid, "")}
        learned = {records.TEXT: said, records.STATUS: began}
        yield row["recorded_at"], row["note"], uid, how, {"set": learned, "now": now}
        at = max(row["recorded_at"], row["retired_at"] or 0)
        if status != began:
            how = "supersede" if heir else "take over"
            yield at, notes.get(heir, ""), uid, how, {"set": {records.STATUS: status}}
        if parts := {part: value for part, value in _beside(db, row["id"], uid) if value is not None}:
            yield at, "", uid, "take over", {"set": parts}


def _beside(db: apsw.Connection, row: int, uid: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a memory's state that rows beside it tell."""
    sql = "SELECT repository, path FROM scoped JOIN scope ON scope.id = scope WHERE memory = ? AND repository <> ''"
    for repository, path in db.execute(sql, (row,)):
        yield records.SCOPE, {"repository": repository} | ({"path": path} if path else {})
    for visibility, author in db.execute("SELECT visibility, author FROM authorship WHERE memory = ?", (row,)):
        yield from ((records.VISIBILITY, visibility), (records.AUTHOR, author or None))
    for mark, part in _MARKS.items():
        for (value,) in db.execute("SELECT value FROM meta WHERE key = ?", (mark + uid,)):
            yield part, value if part == records.MAYBE else json.loads(value)
    for ends_at, verified_at in db.execute("SELECT ends_at, verified_at FROM freshness WHERE memory = ?", (row,)):
        yield from ((records.UNTIL, ends_at), (records.VERIFIED, verified_at))
    for path, blob in db.execute("SELECT path, blob FROM file WHERE memory = ?", (row,)):
        yield named(records.FILE, path), blob
    for kind, session, at in db.execute("SELECT kind, session, at FROM evidence WHERE memory = ?", (row,)):
        yield named(records.EVIDENCE, kind, session), at
    sql = (
        "SELECT k.name, m.uid, link.weight, link.detail FROM link JOIN edge_kind k ON k.id = link.kind"
        f" JOIN memory m ON m.id = link.dst WHERE link.src = ? AND {DECIDED}"
    )
    for kind, other, weight, detail in db.execute(sql, (row,)):
        yield named(records.EDGE, kind, other), {"weight": weight / UNIT_WEIGHT, "detail": detail}


def _rules(db: apsw.Connection) -> Iterator[Change]:
    """Yield each rule."""
    names = "uid text tool pattern action memory made_at ends_at snoozed_until repository path".split()
    sql = f"SELECT {', '.join(names)} FROM rule JOIN scope ON scope.id = rule.scope"
    for uid, *values in db.execute(sql):
        said = dict(zip(names[1:], values, strict=True))
        yield said["made_at"], "", uid, "take over", {"set": {RULE: said}}


def _refused(db: apsw.Connection) -> Iterator[Change]:
    """Yield each text that a person rejected, as its digest."""
    for digest, at in db.execute("SELECT lower(hex(digest)), at FROM rejected"):
        yield at, "", records.REJECTED_PREFIX + digest, "refuse", {"set": {records.REJECTED: at}}
