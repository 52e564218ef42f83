"""Deleting memories so that nothing of them stays in the store, in the caller's transaction.

A receipt stays, as `purged`. The bytes go when the file is written anew (memman.upkeep.scrub).
"""

from collections.abc import Sequence
from typing import Any

import apsw

from memman.model.records import Note
from memman.model.vocabulary import HELD, PROTECTED, REPLACED
from memman.sqlite import LISTED, id_list
from memman.store.sqlite import claims, rules, traces, typed
from memman.store.sqlite.unit import SqliteUnit

OUTCOME = "purged"
# Where memories are named, by the columns that do; last of all where they are.
_NAMED = (
    *(("link", "src"), ("link", "dst"), ("alias", "memory"), ("mention", "memory"), ("code", "memory")),
    *(("freshness", "memory"), ("file", "memory"), ("evidence", "memory"), ("shown", "memory")),
    *(("vector", "memory"), ("scoped", "memory"), ("authorship", "memory"), ("outdated", "memory")),
    *(("fts", "rowid"), ("memory", "id")),
)


def purge(unit: SqliteUnit, memories: Sequence[int], at: int) -> None:
    """Delete memories that are forgotten already, so that their neighbours have them in their context no more."""
    if not memories:
        return
    db, ids = unit.db, id_list(memories)
    gone: list[Any] = db.execute(f"SELECT id, uid, note FROM memory WHERE id {LISTED} ORDER BY id", (ids,)).fetchall()
    for memory, uid, note in gone:
        traces.pass_on(db, memory, db.execute("SELECT superseded_by FROM memory WHERE id = ?", (memory,)).get)
        unit.undoubt(uid)
        claims.forget(db, uid)
        _drop_settings(db, memory, uid, note)
    db.execute(
        f"UPDATE log SET before = NULL, after = NULL WHERE memory IN (SELECT uid FROM memory WHERE id {LISTED})", (ids,)
    )
    traces.clear_log(db, {memory: uid for memory, uid, _ in gone})
    db.execute(
        "UPDATE entity SET count = count - (SELECT count(*) FROM mention m WHERE m.entity = entity.id"
        f" AND m.memory {LISTED}) WHERE id IN (SELECT entity FROM mention WHERE memory {LISTED})",
        (ids, ids),
    )
    typed.drop(db, ids)
    for table, column in _NAMED:
        db.execute(f"DELETE FROM {table} WHERE {column} {LISTED}", (ids,))
    rules.drop_scopes(db)
    db.execute("DELETE FROM entity WHERE NOT EXISTS (SELECT 1 FROM mention WHERE entity = entity.id)")
    for _, uid, note in gone:
        db.execute("INSERT INTO log(at, verb, memory, note) VALUES (?, 'purge', ?, ?)", (at, uid, note))
        if not db.execute("SELECT 1 FROM memory WHERE substr(note, -8) = substr(?1, -8) AND note = ?1", (note,)).get:
            _mark(db, note)
    forget_samples(db)


def close(unit: SqliteUnit, note: Note, at: int) -> None:
    """Record that a note is dealt with, and that nothing of it may be stored."""
    unit.receipt(note, at, OUTCOME, 0)
    _mark(unit.db, note.uid)


def _drop_settings(db: apsw.Connection, memory: int, uid: str, note: str) -> None:
    db.execute("DELETE FROM meta WHERE key IN (?, ?, ?)", (PROTECTED + uid, HELD + uid, REPLACED + note))
    db.execute("DELETE FROM meta WHERE key GLOB ? AND value GLOB ?", (REPLACED + "*", f"{memory} *"))


def _mark(db: apsw.Connection, note: str) -> None:
    db.execute("UPDATE receipt SET outcome = ?, facts = 0 WHERE note = ?", (OUTCOME, note))


def forget_samples(db: apsw.Connection) -> None:
    """Drop what deleted words left in the text index until its parts are merged, and in samples of other indexes."""
    db.execute("INSERT INTO fts(fts) VALUES ('optimize')")
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat4'").get:
        db.execute("DELETE FROM sqlite_stat4")
