"""What the store that a restore replaces knows, and what of it must outlive that: whatever a person has forgotten."""

import os
import re
from contextlib import closing
from dataclasses import dataclass

import apsw

from memman.config.places import store_path
from memman.model.errors import DamagedFile
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.records import Record
from memman.store.sqlite import record_log
from memman.store.sqlite.purge import OUTCOME
from memman.store.sqlite.unit import SqliteUnit

_STAMP = r"-\d{8}T\d{6}Z(\.\d+)?"
# Notes that were forgotten while they waited, or of which a memory is, or what took its place.
_CLOSED = """
WITH RECURSIVE gone(id, note) AS (
SELECT id, note FROM memory WHERE status = 'forgotten'
UNION SELECT memory.id, memory.note FROM gone JOIN memory ON memory.superseded_by = gone.id
) SELECT note FROM gone UNION SELECT note FROM receipt WHERE outcome = 'forgotten'
"""
_NOTES = "SELECT uid, note FROM memory"


@dataclass(frozen=True, slots=True)
class Present:
    """A store as it is: `stored` are the notes it dealt with and that nobody purged.

    `closed` are the notes of which something is forgotten; `outlives` the records of all that came of them, of what was
    forgotten, purged and rejected.
    """

    stored: frozenset[str] = frozenset()
    closed: frozenset[str] = frozenset()
    outlives: tuple[Record, ...] = ()
    readable: bool = True

    @classmethod
    def of(cls, data: str, name: str) -> "Present":
        """Look into a store; what is damaged knows nothing, and of one that was removed only what was forgotten."""
        path = store_path(data, name)
        if os.path.exists(path):
            return cls._read(path)
        last = cls._read(removed) if (removed := _removed(data, name)) else cls()
        return cls(frozenset(), last.closed, last.outlives)

    @classmethod
    def _read(cls, path: str) -> "Present":
        try:
            with TranslatedErrors(path), closing(open_reader(path)) as db:
                db.execute("BEGIN")
                stored = _column(db, f"SELECT note FROM receipt WHERE outcome <> '{OUTCOME}'")
                forgotten = _column(db, "SELECT uid FROM memory WHERE status = 'forgotten'")
                closed = _column(db, _CLOSED)
                about = forgotten | closed | {uid for uid, note in db.execute(_NOTES) if note in closed}
                found = (
                    one
                    for one in record_log.every(db)
                    if one.memory in about or one.act in closed or one.kind in {"purged", "refused"}
                )
                return cls(stored, closed, tuple(sorted(found, key=lambda one: one.order)))
        except DamagedFile:
            return cls(readable=False)


def carry(unit: SqliteUnit, present: Present) -> None:
    """Take along what must outlive a restore, said again by the new host: the old one's numbers go on elsewhere.

    What is said again counts only where the first record does not come too, from a machine that has it.
    """
    have = set(unit.db.execute("SELECT h.name, r.n FROM record r JOIN host h ON h.id = r.host"))
    lost = set(record_log.lost(unit.db))
    back = record_log.add(unit.db, [one for one in present.outlives if (one.host, one.n) in lost])
    new = [one for one in present.outlives if (one.host, one.n) not in have]
    record_log.renew_host(unit.db)
    again = (
        record_log.append(unit.db, one.at + 1, *one[3:7], author=one.author, visibility=one.visibility) for one in new
    )
    unit.follow([*back, *again])


def _removed(data: str, name: str) -> str:
    """Return where the store of that name lies that was moved aside last, '' where none was."""
    try:
        names = [one for one in os.listdir(f"{data}/removed") if re.fullmatch(re.escape(name) + _STAMP, one)]
    except (FileNotFoundError, NotADirectoryError):
        return ""
    path = f"{data}/removed/{max(names)}/memman.db" if names else ""
    return path if os.path.exists(path) else ""


def _column(db: apsw.Connection, sql: str) -> frozenset[str]:
    return frozenset(str(value) for (value,) in db.execute(sql))
