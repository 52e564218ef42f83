"""A store of an earlier schema taken over once: what its rows say becomes records, and the rows stay its index."""

import json
import re
from collections.abc import Iterator
from typing import Any

import apsw

from memman.model import vocabulary
from memman.store import MemoryRow, records
from memman.store.records import KIND_OF, Parts, body, named
from memman.store.sqlite import record_log, rejected
from memman.store.sqlite.index import CONTENT, DECIDED, HOLDS, LISTS, RECEIPT, RULE, STATE, TIMES
from memman.store.sqlite.schema import UNIT_WEIGHT

# What is in no index, since an earlier schema had no records: (when, act or '' for the taking over, about what, verb,
# what else is said).
Change = tuple[int, str, str, str, Parts]
_OBJECT = re.compile(r"CREATE (?:VIRTUAL )?(?:TABLE|INDEX|VIEW) (\w+)")


def take_over(db: apsw.Connection, statements: str) -> None:
    """Bring a store to the tables of schema.sql, without those it has no more; the caller holds the transaction."""
    db.execute(
        "ALTER TABLE log RENAME TO log_before; DROP TABLE IF EXISTS alias; ALTER TABLE receipt DROP COLUMN changed;"
        " ALTER TABLE memory DROP COLUMN digest"
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
    taken = "taken over by " + record_log.host(db)  # two machines take over each its own store: two acts
    changes = sorted(
        (*_notes(db), *_memories(db), *_rules(db), *_rejected(db), *_log(db)), key=lambda change: change[0]
    )
    for at, act, uid, how, said in changes:
        record_log.append(db, at, act or taken, uid, KIND_OF[how], body(how, **said))
    db.execute("DROP TABLE log_before")
    db.execute(f"DELETE FROM meta WHERE key GLOB '{vocabulary.UNDONE}*'")
    replaced: list[Any] = db.execute(f"SELECT key, value FROM meta WHERE key GLOB '{vocabulary.REPLACED}*'").fetchall()
    for key, value in replaced:
        row, _, since = value.partition(" ")
        uid = db.execute("SELECT uid FROM memory WHERE id = ?", (int(row),)).get
        db.execute("UPDATE meta SET value = ? WHERE key = ?", (f"{uid} {since}", key))


def _notes(db: apsw.Connection) -> Iterator[Change]:
    names = [name for (name,) in db.execute("SELECT name FROM pragma_table_info('receipt')")]
    for row in db.execute(f"SELECT {', '.join(names)} FROM receipt"):
        said = dict(zip(names, row, strict=True))
        note = said.pop("note")
        yield said["at"], note, note, "note", {"set": {RECEIPT: said}}


def _memories(db: apsw.Connection) -> Iterator[Change]:
    """Yield what each memory says when it was learned, and beside that how it stands now."""
    uids = dict(db.execute("SELECT id, uid FROM memory"))
    for row in map(MemoryRow, db.execute(f"SELECT {MemoryRow.listed()} FROM memory ORDER BY id").fetchall()):
        kept = row.record()
        text = {name: kept[name] for name in (*CONTENT, *TIMES)} | {name: json.loads(kept[name]) for name in LISTS}
        held = row.status == "review"
        learned: Parts = {records.TEXT: text, records.STATUS: HOLDS | ({"status": "review"} if held else {})}
        yield row.recorded_at, row.note, row.uid, "hold" if held else "add", {"set": learned}
        status = {name: kept[name] for name in STATE} | {"superseded_by": uids.get(row.superseded_by)}
        now = dict(_beside(db, row)) | ({} if held or status == HOLDS else {records.STATUS: status})
        if now:
            yield max(row.recorded_at, row.retired_at or 0), "", row.uid, "take over", {"set": now}


def _beside(db: apsw.Connection, row: MemoryRow) -> Iterator[tuple[str, Any]]:
    sql = "SELECT repository, path FROM scoped JOIN scope ON scope.id = scope WHERE memory = ? AND repository <> ''"
    for repository, path in db.execute(sql, (row.id,)):
        yield records.SCOPE, {"repository": repository} | ({"path": path} if path else {})
    for visibility, author in db.execute("SELECT visibility, author FROM authorship WHERE memory = ?", (row.id,)):
        yield from ((records.VISIBILITY, visibility), (records.AUTHOR, author or None))
    for mark, part in (
        (vocabulary.PROTECTED, records.PROTECTED),
        (vocabulary.HELD, records.HELD),
        (vocabulary.MAYBE, records.MAYBE),
        (vocabulary.CLAIMS, records.CLAIMS),
    ):
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
    names = (
        *("uid", "text", "tool", "pattern", "action", "memory", "made_at", "ends_at", "snoozed_until"),
        *("repository", "path"),
    )
    sql = f"SELECT {', '.join(names)} FROM rule JOIN scope ON scope.id = rule.scope"
    for row in db.execute(sql):
        said = dict(zip(names, row, strict=True))
        uid = said.pop("uid")
        yield said["made_at"], "", uid, "take over", {"set": {RULE: said}}


def _rejected(db: apsw.Connection) -> Iterator[Change]:
    for digest, at in db.execute("SELECT lower(hex(digest)), at FROM rejected"):
        yield at, "", rejected.PREFIX + digest, "refuse", {"set": {rejected.PART: at}}


def _log(db: apsw.Connection) -> Iterator[Change]:
    """Yield what the log told: it changes nothing, the rows have it."""
    uids = dict(db.execute("SELECT id, uid FROM memory"))
    for at, verb, memory, note, *sides in db.execute("SELECT at, verb, memory, note, before, after FROM log_before"):
        if verb in KIND_OF and verb not in {"add", "hold"}:
            was, now = (_renamed(json.loads(side or "{}"), uids) for side in sides)
            yield at, note, memory, verb, {"was": was, "now": now}


def _renamed(side: Parts, uids: dict[int, str]) -> Parts:
    """Have a line of the log name memories by uid."""
    return {name: uids.get(value) if name == "superseded_by" else value for name, value in side.items()}
