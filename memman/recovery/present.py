"""What the store that a restore replaces knows, and what of it must outlive that: whatever a person has forgotten."""

import json
import os
import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import apsw

from memman.clock import now_ms
from memman.config.places import store_path
from memman.model.errors import DamagedFile
from memman.model.records import Draft, Fact, Scope
from memman.model.vocabulary import CLAIMS, HELD, MAYBE, PROTECTED
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.sqlite.catalogue import RECEIPT
from memman.store.sqlite.purge import OUTCOME
from memman.store.sqlite.seal import SEALED
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit

_STAMP = r"-\d{8}T\d{6}Z(\.\d+)?"
# Notes that were forgotten while they waited, or of which a memory is, or what took its place.
_CLOSED = """(
WITH RECURSIVE gone(id, note) AS (
SELECT id, note FROM memory WHERE status = 'forgotten'
UNION SELECT memory.id, memory.note FROM gone JOIN memory ON memory.superseded_by = gone.id
) SELECT note FROM gone UNION SELECT note FROM receipt WHERE outcome = 'forgotten'
)"""
# What took the place of what, where a note of _CLOSED is on either side.
_REPLACED = f"""
SELECT old.uid, new.uid, old.retired_at, old.valid_to
FROM memory AS old JOIN memory AS new ON new.id = old.superseded_by
WHERE old.note IN {_CLOSED} OR new.note IN {_CLOSED} ORDER BY old.id
"""
_MARKS = (HELD, PROTECTED, MAYBE, CLAIMS)
_MARKED = "SELECT key, value FROM meta WHERE " + " OR ".join(f"key GLOB '{mark}*'" for mark in _MARKS)
_SCOPES = f"""
SELECT uid, repository, path FROM memory JOIN scoped ON memory = memory.id JOIN scope ON scope.id = scope
WHERE note IN {_CLOSED}
"""
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Present:
    """A store as it is: `stored` are the notes it dealt with and that nobody purged, `forgotten` uids of memories.

    `closed` are receipts of the notes of which something is forgotten, by note; `memories` all that came of those;
    `replaced` has (uid, successor's uid, retired_at, valid_to), `marks` the settings that uids are marked with,
    `scopes` what those memories hold for.
    """

    stored: frozenset[str] = frozenset()
    forgotten: frozenset[str] = frozenset()
    closed: Mapping[str, Row] = field(default_factory=dict)
    memories: tuple[Row, ...] = ()
    replaced: tuple[tuple[str, str, int | None, int | None], ...] = ()
    marks: Mapping[str, str] = field(default_factory=dict)
    scopes: Mapping[str, Scope] = field(default_factory=dict)
    readable: bool = True

    @classmethod
    def of(cls, data: str, name: str) -> "Present":
        """Look into a store; what is damaged knows nothing, and of one that was removed only what was forgotten."""
        path = store_path(data, name)
        if os.path.exists(path):
            return cls._read(path)
        last = cls._read(removed) if (removed := _removed(data, name)) else cls()
        return cls(frozenset(), last.forgotten, last.closed, last.memories, last.replaced, last.marks, last.scopes)

    @classmethod
    def _read(cls, path: str) -> "Present":
        try:
            with TranslatedErrors(path), closing(open_reader(path)) as db:
                db.execute("BEGIN")
                return cls(
                    frozenset(_column(db, f"SELECT note FROM receipt WHERE outcome <> '{OUTCOME}'")),
                    frozenset(_column(db, "SELECT uid FROM memory WHERE status = 'forgotten'")),
                    {row["note"]: row for row in _rows(db, "receipt", RECEIPT, f"note IN {_CLOSED} ORDER BY note")},
                    tuple(_rows(db, "memory", SEALED, f"note IN {_CLOSED} ORDER BY id")),
                    tuple(db.execute(_REPLACED)),
                    dict(db.execute(_MARKED)),
                    {uid: Scope(*scope) for uid, *scope in db.execute(_SCOPES)},
                )
        except (DamagedFile, ValueError):
            return cls(readable=False)


def carry(store: SqliteStore, unit: SqliteUnit, present: Present) -> None:
    """Take along the notes with something forgotten that `store` has not dealt with.

    All that came of each comes along, and of the note nothing is extracted again; the caller forgets what is to be.
    """
    now, known = now_ms(), frozenset(_column(store.db, "SELECT note FROM receipt"))
    new = [row for note, row in present.closed.items() if note not in known]
    for row in new:
        marks = ", ".join("?" * len(row))
        store.db.execute(f"INSERT INTO receipt({', '.join(row)}) VALUES ({marks})", tuple(row.values()))
    brought = {row["note"] for row in new}
    memories = [row for row in present.memories if row["note"] in brought]
    rows = {row["uid"]: _add(unit, row, present) for row in memories}
    for uid, successor, at, valid_to in present.replaced:
        for old, heir in product(_row(store.db, uid), _row(store.db, successor)):
            unit.supersede(old, heir, at or now, valid_to or now, "as before the restore")
    _doubt(store, unit, rows, present.marks)
    unit.renew([row for uid, row in rows.items() if HELD + uid not in present.marks])


def _doubt(store: SqliteStore, unit: SqliteUnit, brought: Mapping[str, int], marks: Mapping[str, str]) -> None:
    """Mark what is maybe replaced where one of the two was brought along."""
    now, pairs = now_ms(), [(key.removeprefix(MAYBE), uid) for key, uid in marks.items() if key.startswith(MAYBE)]
    for uid, newer in pairs:
        if uid in brought or newer in brought:
            for old, new in product(_row(store.db, uid), _row(store.db, newer)):
                unit.doubt(old, new, now, "as before the restore")


def _add(unit: SqliteUnit, row: Row, present: Present) -> int:
    """Store a memory as it was when it was new, held back where it is so still; return its row."""
    entities, keywords = (tuple(json.loads(row[name])) for name in ("entities", "keywords"))
    fact = Fact(row["text"], row["category"], row["importance"], entities, keywords, row["summary"])
    scope = present.scopes.get(row["uid"]) or Scope(present.closed[row["note"]]["repository"])
    draft = Draft(row["uid"], row["note"], fact, row["source"], row["origin"], row["valid_from"], scope=scope)
    memory = unit.add(draft, row["recorded_at"], held=HELD + draft.uid in present.marks)
    unit.linked("", memory, memory)
    unit.set_meta(CLAIMS + draft.uid, present.marks.get(CLAIMS + draft.uid))
    if PROTECTED + draft.uid in present.marks:
        unit.protect(memory, row["recorded_at"], wanted=True)
    return memory


def _removed(data: str, name: str) -> str:
    """Return where the store of that name lies that was moved aside last, '' where none was."""
    try:
        names = [one for one in os.listdir(f"{data}/removed") if re.fullmatch(re.escape(name) + _STAMP, one)]
    except (FileNotFoundError, NotADirectoryError):
        return ""
    path = f"{data}/removed/{max(names)}/memman.db" if names else ""
    return path if os.path.exists(path) else ""


def _row(db: apsw.Connection, uid: str) -> list[int]:
    return _column(db, "SELECT id FROM memory WHERE uid = ?", (uid,))


def _column(db: apsw.Connection, sql: str, values: tuple[str, ...] = ()) -> list[Any]:
    return [value for (value,) in db.execute(sql, values)]


def _rows(db: apsw.Connection, table: str, names: tuple[str, ...], where: str) -> list[Row]:
    sql = f"SELECT {', '.join(names)} FROM {table} WHERE {where}"
    return [dict(zip(names, row, strict=True)) for row in db.execute(sql)]
