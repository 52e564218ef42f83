"""The rules in a store: constraints that a person set. Functions that write run in the transaction of their caller."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from memman.model.records import Scope
from memman.model.text import plain
from memman.secrets import screened
from memman.store.records import RULE
from memman.store.sqlite import record_log
from memman.store.sqlite.reader import SqliteReader

if TYPE_CHECKING:
    from memman.store.sqlite.unit import SqliteUnit

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
_SAID = (*("text", "tool", "pattern", "action", "memory", "made_at", "ends_at", "snoozed_until"), "repository", "path")
_SCREENED = ("text", "pattern", "repository", "path")
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


def add(unit: "SqliteUnit", rule: Mapping[str, Any], at: int) -> None:
    """Store a rule, without secrets."""
    names = ("uid", "text", "tool", "pattern", "action", "memory", "ends_at", "repository", "path")
    said = {name: screened(rule[name]) if name in _SCREENED else rule[name] for name in names}
    _record(unit, at, "rule add", None, said | {"made_at": at, "snoozed_until": None})


def remove(unit: "SqliteUnit", rule: Mapping[str, Any], at: int) -> None:
    """Delete a rule, and its scope where nothing else has it."""
    _record(unit, at, "rule remove", rule, None)
    drop_scopes(unit.db)


def purge(unit: "SqliteUnit", uids: Collection[str], at: int) -> None:
    """Delete rules, and all that the log keeps of what they said."""
    record_log.empty(unit.db, [*uids])
    for uid in uids:
        unit.record(at, uid, "rule purge", {RULE: None})
    drop_scopes(unit.db)


def drop_scopes(db: apsw.Connection) -> None:
    """Delete the scopes of which there is neither a memory nor a rule."""
    db.execute(
        "DELETE FROM scope WHERE id AND NOT EXISTS (SELECT 1 FROM scoped WHERE scope = scope.id)"
        " AND NOT EXISTS (SELECT 1 FROM rule WHERE scope = scope.id)"
    )


def snooze(unit: "SqliteUnit", rule: Mapping[str, Any], until: int, at: int) -> None:
    """Have a rule hold again only from a moment on."""
    _record(unit, at, "rule snooze", rule, {**rule, "snoozed_until": until})


def move(unit: "SqliteUnit", uid: str, before: Scope, after: Scope, at: int) -> None:
    """Have a rule hold for another scope."""
    rule = next(one for one in listed(SqliteReader(unit.db)) if one["uid"] == uid)
    where = {"repository": screened(after.repository), "path": screened(after.path)}
    unit.record(at, uid, "rule move", {RULE: _said(rule | where)}, {"scope": before}, {"scope": after})


def take_along(
    unit: "SqliteUnit",
    memories: Iterable[tuple[int, str, str]],
    ruled: Iterable[tuple[str, str, str]],
    repository: str,
    at: int,
) -> None:
    """Have memories and rules, as `scopes.held_by` names them, hold for another repository."""
    for memory, _, path in memories:
        unit.move(memory, Scope(repository, path), at)
    for rule, before, path in ruled:
        move(unit, rule, Scope(before, path), Scope(repository, path), at)


def count(db: apsw.Connection, hits: Mapping[str, Sequence[int]]) -> None:
    """Add to each rule, by uid, when it fired."""
    sql = "UPDATE rule SET hits = hits + ?, hit_at = max(coalesce(hit_at, 0), ?) WHERE uid = ?"
    db.executemany(sql, [(len(times), max(times), uid) for uid, times in hits.items()])


def _record(
    unit: "SqliteUnit", at: int, how: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None
) -> None:
    changed = [name for name in _LOGGED if (before or {}).get(name) != (after or {}).get(name)]
    was, now = (side and {name: side.get(name) for name in changed} for side in (before, after))
    uid = (after or before or {})["uid"]
    unit.record(at, uid, how, {RULE: _said(after) if after else None}, was, now)


def _said(rule: Mapping[str, Any]) -> dict[str, Any]:
    return {name: rule[name] for name in _SAID}
