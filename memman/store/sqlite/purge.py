"""Deleting memories so that nothing of them stays in the store, in the caller's transaction.

A receipt stays, as `purged`. The bytes go when the file is written anew (memman.upkeep.maintenance).
"""

from collections.abc import Sequence
from typing import Any

import apsw

from memman.model.records import Note
from memman.model.vocabulary import REPLACED, UNDONE
from memman.sqlite import LISTED, id_list
from memman.store import records
from memman.store.sqlite import index, record_log, rules, topics
from memman.store.sqlite.unit import SqliteUnit

OUTCOME = "purged"


def purge(unit: SqliteUnit, memories: Sequence[int], at: int) -> None:
    """Delete memories that are forgotten already, so that their neighbours have them in their context no more."""
    db = unit.db
    _forget_waiting(db)
    if not memories:
        return
    sql = f"SELECT uid, note FROM memory WHERE id {LISTED} ORDER BY id"
    gone: list[Any] = db.execute(sql, (id_list(memories),)).fetchall()
    for memory in memories:
        unit.pass_on(memory, at)
    uids = [uid for uid, _ in gone]
    record_log.empty(db, uids)
    for uid, note in gone:
        unit.record(at, uid, "purge", {}, note=note)
    rules.drop_scopes(db)
    left = "SELECT 1 FROM memory WHERE substr(note, -8) = substr(?1, -8) AND note = ?1"
    for note in dict.fromkeys(note for _, note in gone):
        if not db.execute(left, (note,)).get:
            _mark(unit, note, at)
    forget_samples(db)


def close(unit: SqliteUnit, note: Note, at: int) -> None:
    """Record that a note is dealt with, and that nothing of it may be stored."""
    unit.receipt(note, at, OUTCOME, 0)
    _mark(unit, note.uid, at)
    _forget_waiting(unit.db)


def _forget_waiting(db: apsw.Connection) -> None:
    """Drop what undos keep of notes that waited, and topics: any may say what is purged."""
    db.execute("DELETE FROM meta WHERE key GLOB ?", (UNDONE + "*",))
    topics.drop(db)


def _mark(unit: SqliteUnit, note: str, at: int) -> None:
    unit.db.execute("DELETE FROM meta WHERE key = ?", (REPLACED + note,))
    said = index.state(unit.db, note).get(records.RECEIPT)
    if said:
        unit.record(at, note, "note", {records.RECEIPT: said | {"outcome": OUTCOME, "facts": 0}})


def forget_samples(db: apsw.Connection) -> None:
    """Drop what deleted words left in the text index until its parts are merged, and in samples of other indexes."""
    db.execute("INSERT INTO fts(fts) VALUES ('optimize')")
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'sqlite_stat4'").get:
        db.execute("DELETE FROM sqlite_stat4")
