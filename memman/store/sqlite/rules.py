"""The rules in a store: constraints that a person set. Functions that write run in the transaction of their caller."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import apsw

from memman.model.records import Scope
from memman.model.text import plain
from memman.secrets import screened
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.unit import SqliteUnit, write_log

# A rule as a record, by its columns; the scope's come from its own table.
_COLUMNS = (
    *("id", "uid", "text", "tool", "pattern", "action", "memory", "made_at", "ends_at", "snoozed_until"),
    *("hits", "hit_at"),
)
FIELDS = (*_COLUMNS, "repository", "path")
LONGEST = 500
# How the verbs of the log begin that are about a rule.
VERB = "rule "
# What rules say, and those that were removed as the log knows them.
_WORDED = (
    "SELECT uid, text, memory, action, pattern FROM rule UNION ALL"
    " SELECT memory, coalesce(json_extract(after, '$.text'), json_extract(before, '$.text')) AS said, '', '', ''"
    f" FROM log WHERE verb GLOB '{VERB}*' AND said IS NOT NULL"
)
_LOGGED = ("text", "pattern", "action", "ends_at", "snoozed_until")


def listed(reader: SqliteReader) -> list[dict[str, Any]]:
    """Return the rules of a store, the oldest first."""
    columns = ", ".join(f"rule.{name}" for name in _COLUMNS)
    sql = f"SELECT {columns}, repository, path FROM rule JOIN scope ON scope.id = rule.scope ORDER BY rule.id"
    return [dict(zip(FIELDS, row, strict=True)) for row in reader.db.execute(sql)]


def worded(reader: SqliteReader) -> list[dict[str, Any]]:
    """Return what each rule says of which a word is left: those of a store, and removed ones, without an action."""
    rows: dict[str, dict[str, Any]] = {}
    for row in reader.db.execute(_WORDED):
        rows.setdefault(row[0], dict(zip(("uid", "text", "memory", "action", "pattern"), row, strict=True)))
    return list(rows.values())


def made_of(reader: SqliteReader, memories: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rules, removed ones too, that were made of memories or say the same; `memories` by uid."""
    texts = set(map(wording, memories.values()))
    return [rule for rule in worded(reader) if rule["memory"] in memories or rule["text"] in texts]


def wording(text: str) -> str:
    """Return a text as a rule says it."""
    return plain(" ".join(text.split()), LONGEST)


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
    drop_scopes(unit.db)
    _log(unit.db, at, VERB + "remove", rule["uid"], rule, None)


def purge(unit: SqliteUnit, uids: Collection[str], at: int) -> None:
    """Delete rules, and all that the log keeps of what they said."""
    rows = [(uid,) for uid in uids]
    unit.db.executemany("DELETE FROM rule WHERE uid = ?", rows)
    unit.db.executemany(f"UPDATE log SET before = NULL, after = NULL WHERE verb GLOB '{VERB}*' AND memory = ?", rows)
    drop_scopes(unit.db)
    for uid in uids:
        _log(unit.db, at, VERB + "purge", uid, None, None)


def drop_scopes(db: apsw.Connection) -> None:
    """Delete the scopes of which there is neither a memory nor a rule."""
    db.execute(
        "DELETE FROM scope WHERE id AND NOT EXISTS (SELECT 1 FROM scoped WHERE scope = scope.id)"
        " AND NOT EXISTS (SELECT 1 FROM rule WHERE scope = scope.id)"
    )


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
    write_log(unit.db, at, VERB + "move", uid, "", {"scope": before}, {"scope": after})


def count(db: apsw.Connection, hits: Mapping[str, Sequence[int]]) -> None:
    """Add to each rule, by uid, when it fired."""
    sql = "UPDATE rule SET hits = hits + ?, hit_at = max(coalesce(hit_at, 0), ?) WHERE uid = ?"
    db.executemany(sql, [(len(times), max(times), uid) for uid, times in hits.items()])


def _log(
    db: apsw.Connection, at: int, verb: str, uid: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> None:
    changed = [name for name in _LOGGED if (before or {}).get(name) != (after or {}).get(name)]
    sides = [side and {name: side.get(name) for name in changed} for side in (before, after)]
    write_log(db, at, verb, uid, "", *sides)
