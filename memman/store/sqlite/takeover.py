"""A store of an earlier schema taken over once: what its rows say becomes records, and the rows stay its index.

Of its log only why a memory is held back is taken over: the history of a memory begins with its records.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from memman.model import vocabulary
from memman.store import MemoryRow, records
from memman.store.records import KIND_OF, RECEIPT, RULE, Parts, body, named
from memman.store.sqlite import record_log
from memman.store.sqlite.index import CONTENT, DECIDED, HOLDS, LISTS, STATE, TIMES, rewrite
from memman.store.sqlite.schema import UNIT_WEIGHT

# What is in no index, since an earlier schema had no records: (when, act or '' for the taking over, about what, verb,
# what else is said).
Change = tuple[int, str, str, str, Parts]
# How the settings began that were named after a memory, and the part of its state that each told.
MARKS = {f"{part}:": part for part in (records.PROTECTED, records.HELD, records.MAYBE, records.CLAIMS)}
_MARKED = " OR ".join(f"key GLOB '{mark}*'" for mark in MARKS)
_OBJECT = re.compile(r"CREATE (?:VIRTUAL )?(?:TABLE|INDEX|VIEW) (\w+)")


def take_over(db: apsw.Connection, statements: str) -> None:
    """Bring a store to the tables of schema.sql, without those it has no more; the caller holds the transaction."""
    db.execute(
        "ALTER TABLE log RENAME TO log_before; DROP TABLE IF EXISTS alias; ALTER TABLE memory DROP COLUMN digest"
    )
    synced: list[Any] = db.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'sync_*'"
    ).fetchall()
    for (name,) in synced:
        db.execute(f"DROP TABLE {name}")
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
    for statement in statements.split(";\n"):
        if (found := _OBJECT.search(statement)) and found[1] not in there:
            db.execute(statement)
    uids = dict(db.execute("SELECT id, uid FROM memory"))
    changes = [*_notes(db), *_learned(db, uids), *_rules(db), *_refused(db)]
    changes.sort(key=lambda change: change[0])
    db.execute("ALTER TABLE receipt DROP COLUMN changed")
    taken = records.TAKEN_OVER + record_log.host(db)  # two machines take over each its own store: two acts
    for at, act, uid, how, said in changes:
        record_log.append(db, at, act or taken, uid, KIND_OF[how], body(how, **said))
    sql = f"DELETE FROM meta WHERE {_MARKED} RETURNING substr(key, instr(key, ':') + 1)"
    marked = {str(uid) for (uid,) in db.execute(sql).fetchall()}
    rewrite(db, sorted(marked & {*uids.values()}))
    db.execute("DROP TABLE log_before")
    db.execute(f"DELETE FROM meta WHERE key GLOB '{vocabulary.UNDONE}*'")
    replaced: list[Any] = db.execute(f"SELECT key, value FROM meta WHERE key GLOB '{vocabulary.REPLACED}*'").fetchall()
    for key, value in replaced:
        row, _, since = value.partition(" ")
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (f"{uids.get(int(row), '')} {since}", key))


def _notes(db: apsw.Connection) -> Iterator[Change]:
    """Yield what became of each note."""
    names = [name for (name,) in db.execute("SELECT name FROM pragma_table_info('receipt') WHERE name <> 'changed'")]
    for row in db.execute(f"SELECT {', '.join(names)} FROM receipt"):
        said = {name: value for name, value in zip(names, row, strict=True) if value}
        note = said.pop("note")
        yield said["at"], note, note, "note", {"set": {RECEIPT: said}}


def _learned(db: apsw.Connection, uids: Mapping[int, str]) -> Iterator[Change]:
    """Yield what each memory says, and how it stands by now; the act that replaced it is its heir's note."""
    notes = dict(db.execute("SELECT id, note FROM memory"))
    held = dict(db.execute("SELECT memory, coalesce(after ->> '$.why', '') FROM log_before WHERE verb = 'hold'"))
    for row in map(MemoryRow, db.execute(f"SELECT {MemoryRow.listed()} FROM memory ORDER BY id").fetchall()):
        kept = row.record()
        lists = {name: json.loads(kept[name]) for name in LISTS}
        text = {name: kept[name] for name in (*CONTENT, *TIMES)} | lists
        status = {name: kept[name] for name in STATE} | {"superseded_by": uids.get(row.superseded_by or 0)}
        began, how, more = HOLDS, "add", dict[str, Any]()
        if row.status == "review":
            began, how, more = status, "hold", {"now": {"why": held.get(row.uid, "")}}
        yield row.recorded_at, row.note, row.uid, how, {"set": {records.TEXT: text, records.STATUS: began}} | more
        at = max(row.recorded_at, row.retired_at or 0)
        if status != began:
            how = "supersede" if row.superseded_by else "take over"
            yield at, notes.get(row.superseded_by, ""), row.uid, how, {"set": {records.STATUS: status}}
        if parts := dict(_parts_of(db, row)):
            yield at, "", row.uid, "take over", {"set": parts}


def _parts_of(db: apsw.Connection, row: MemoryRow) -> Iterator[tuple[str, Any]]:
    """Yield the parts of a memory's state that stand beside its row."""
    sql = "SELECT repository, path FROM scoped JOIN scope ON scope.id = scope WHERE memory = ? AND repository <> ''"
    for repository, path in db.execute(sql, (row.id,)):
        yield records.SCOPE, {"repository": repository} | ({"path": path} if path else {})
    for visibility, author in db.execute("SELECT visibility, author FROM authorship WHERE memory = ?", (row.id,)):
        yield from ((records.VISIBILITY, visibility), (records.AUTHOR, author or None))
    for mark, part in MARKS.items():
        for (value,) in db.execute("SELECT value FROM meta WHERE key = ?", (mark + row.uid,)):
            yield part, value if part == records.MAYBE else json.loads(value)
    for ends_at, verified_at in db.execute("SELECT ends_at, verified_at FROM freshness WHERE memory = ?", (row.id,)):
        yield from ((records.UNTIL, ends_at), (records.VERIFIED, verified_at))
    for path, blob in db.execute("SELECT path, blob FROM file WHERE memory = ?", (row.id,)):
        yield named(records.FILE, path), blob
    for kind, session, at in db.execute("SELECT kind, session, at FROM evidence WHERE memory = ?", (row.id,)):
        yield named(records.EVIDENCE, kind, session), at
    sql = (
        "SELECT k.name, m.uid, link.weight, link.detail FROM link JOIN edge_kind k ON k.id = link.kind"
        f" JOIN memory m ON m.id = link.dst WHERE link.src = ? AND {DECIDED}"
    )
    for kind, other, weight, detail in db.execute(sql, (row.id,)):
        yield named(records.EDGE, kind, other), {"weight": weight / UNIT_WEIGHT, "detail": detail}


def _rules(db: apsw.Connection) -> Iterator[Change]:
    """Yield each rule."""
    names = (
        *("uid", "text", "tool", "pattern", "action", "memory", "made_at", "ends_at", "snoozed_until"),
        *("repository", "path"),
    )
    sql = f"SELECT {', '.join(names)} FROM rule JOIN scope ON scope.id = rule.scope"
    for row in db.execute(sql):
        said = dict(zip(names, row, strict=True))
        uid = said.pop("uid")
        yield said["made_at"], "", uid, "take over", {"set": {RULE: said}}


def _refused(db: apsw.Connection) -> Iterator[Change]:
    """Yield each text that a person rejected, as its digest."""
    for digest, at in db.execute("SELECT lower(hex(digest)), at FROM rejected"):
        yield at, "", records.REJECTED_PREFIX + digest, "refuse", {"set": {records.REJECTED: at}}
