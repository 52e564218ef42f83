"""The rules in a store: constraints that a person set. Functions that write run in the transaction of their caller."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from memman.model.records import Scope
from memman.secrets import screened
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.unit import SqliteUnit

# A rule as a record, by its columns; the scope's come from its own table.
_COLUMNS = (
    *("id", "uid", "text", "tool", "pattern", "action", "memory", "made_at", "ends_at", "snoozed_until"),
    *("hits", "hit_at"),
)
FIELDS = (*_COLUMNS, "repository", "path")
# How the verbs of the log begin that are about a rule.
VERB = "rule "
_LOGGED = ("text", "pattern", "action", "ends_at", "snoozed_until")


def listed(reader: SqliteReader) -> list[dict[str, Any]]:
    """Return the rules of a store, the oldest first."""
    if not reader.annotated:
        return []
    columns = ", ".join(f"rule.{name}" for name in _COLUMNS)
    sql = f"SELECT {columns}, repository, path FROM rule JOIN scope ON scope.id = rule.scope ORDER BY rule.id"
    return [dict(zip(FIELDS, row, strict=True)) for row in reader.db.execute(sql)]


def add(unit: SqliteUnit, rule: Mapping[str, Any], at: int) -> None:
    """Store a rule, without secrets."""
    scope = (screened(rule["repository"]), screened(rule["path"]))
    unit.db.execute("INSERT INTO scope(repository, path) VALUES (?, ?) ON CONFLICT DO NOTHING", scope)
    names = ("uid", "text", "tool", "pattern", "action", "memory", "ends_at")
    values = [screened(rule[name]) if name in {"text", "pattern"} else rule[name] for name in names]
    unit.db.execute(
        f"INSERT INTO rule({', '.join(names)}, made_at, scope)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT id FROM scope WHERE repository = ? AND path = ?))",
        (*values, at, *scope),
    )
    _log(unit.db, at, VERB + "add", rule["uid"], None, rule)


def remove(unit: SqliteUnit, rule: Mapping[str, Any], at: int) -> None:
    """Delete a rule, and its scope where nothing else has it."""
    unit.db.execute("DELETE FROM rule WHERE uid = ?", (rule["uid"],))
    unit.db.execute(
        "DELETE FROM scope WHERE id AND NOT EXISTS (SELECT 1 FROM scoped WHERE scope = scope.id)"
        " AND NOT EXISTS (SELECT 1 FROM rule WHERE scope = scope.id)"
    )
    _log(unit.db, at, VERB + "remove", rule["uid"], rule, None)


def snooze(unit: SqliteUnit, rule: Mapping[str, Any], until: int, at: int) -> None:
    """Have a rule hold again only from a moment on."""
    unit.db.execute("UPDATE rule SET snoozed_until = ? WHERE uid = ?", (until, rule["uid"]))
    after = {**rule, "snoozed_until": until}
    _log(unit.db, at, VERB + "snooze", rule["uid"], rule, after)


def move(unit: SqliteUnit, uid: str, before: Scope, after: Scope, at: int) -> None:
    """Have a rule hold for another scope."""
    scope = (screened(after.repository), screened(after.path))
    unit.db.execute("INSERT INTO scope(repository, path) VALUES (?, ?) ON CONFLICT DO NOTHING", scope)
    sql = "UPDATE rule SET scope = (SELECT id FROM scope WHERE repository = ? AND path = ?) WHERE uid = ?"
    unit.db.execute(sql, (*scope, uid))
    sides = (json.dumps({"scope": side}, ensure_ascii=False) for side in (before, after))
    unit.db.execute(
        "INSERT INTO log(at, verb, memory, before, after) VALUES (?, ?, ?, ?, ?)", (at, VERB + "move", uid, *sides)
    )


def count(db: apsw.Connection, hits: Mapping[str, Sequence[int]]) -> None:
    """Add to each rule, by uid, when it fired."""
    sql = "UPDATE rule SET hits = hits + ?, hit_at = max(coalesce(hit_at, 0), ?) WHERE uid = ?"
    db.executemany(sql, [(len(times), max(times), uid) for uid, times in hits.items()])


def _log(
    db: apsw.Connection, at: int, verb: str, uid: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> None:
    changed = [name for name in _LOGGED if (before or {}).get(name) != (after or {}).get(name)]
    sides = [
        side and json.dumps({name: side.get(name) for name in changed}, ensure_ascii=False) for side in (before, after)
    ]
    db.execute("INSERT INTO log(at, verb, memory, before, after) VALUES (?, ?, ?, ?, ?)", (at, verb, uid, *sides))
