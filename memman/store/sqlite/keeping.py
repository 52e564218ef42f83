"""What is known of how long memories hold and how often they were of use, and of the files that they name."""

from collections.abc import Iterable, Sequence

import apsw

from memman.belief import APPROVED, FOR, reliability, sessions
from memman.model.vocabulary import WISH
from memman.model.worth import Kept
from memman.sqlite import Row
from memman.store.sqlite.reader import SqliteReader

# A session that was shown a memory counts once; before that was recorded, each time did.
_KEPT = """
SELECT m.id, m.importance, m.category, m.valid_from, m.recorded_at, m.uses, f.ends_at, f.verified_at,
    (SELECT count(DISTINCT session) FROM shown WHERE memory = m.id),
    (SELECT protected FROM mark WHERE memory = m.id)
FROM memory m LEFT JOIN freshness f ON f.memory = m.id WHERE m.status = 'current' ORDER BY m.id
"""
_FILES = """
SELECT f.memory, f.path, f.blob, f.changed_at, r.cwd FROM file f
JOIN memory m ON m.id = f.memory JOIN receipt r ON r.note = m.note
WHERE m.status = 'current' AND (f.memory, f.path) > (?, ?) ORDER BY f.memory, f.path LIMIT ?
"""
_FILES_OF = """
SELECT f.memory, f.path, f.blob, f.changed_at, r.cwd FROM file f
JOIN memory m ON m.id = f.memory JOIN receipt r ON r.note = m.note WHERE f.memory = ? ORDER BY f.path
"""


class FileRow(Row):
    """A file that a memory names, and the folder in which that was said."""

    __slots__ = ()
    memory: int
    path: str
    blob: str
    changed_at: int | None
    cwd: str


class Standing(Row):
    """What is known of a current memory beside what it says."""

    __slots__ = ()
    id: int
    importance: int
    category: str
    valid_from: int
    recorded_at: int
    uses: int
    ends_at: int | None
    verified_at: int | None
    sessions: int
    protected: int | None


def standings(reader: SqliteReader) -> list[Standing]:
    """Return what is known of every current memory."""
    return [Standing(row) for row in reader.db.execute(_KEPT)]


def kept(reader: SqliteReader, rows: Sequence[Standing]) -> dict[int, Kept]:
    """Return what decides how much memories are worth keeping."""
    evidence = reader.evidence(row.id for row in rows)
    return {row.id: _kept(row, evidence.get(row.id, [])) for row in rows}


def _kept(row: Standing, evidence: Sequence[tuple[str, str, int]]) -> Kept:
    approved = any(kind == APPROVED for kind, _, _ in evidence)
    why = "protected" if row.protected else WISH if row.category == WISH else APPROVED if approved else ""
    return Kept(
        row.importance,
        last_borne_out(row, evidence),
        row.sessions or row.uses,
        reliability(*sessions(evidence)),
        row.ends_at,
        why,
    )


def last_borne_out(row: Standing, evidence: Iterable[tuple[str, str, int]]) -> int:
    """Return when a memory was last said, or found to be true."""
    said = max(row.valid_from, row.verified_at or 0)
    return max(said, 0, *(at for kind, _, at in evidence if kind in FOR)) if evidence else said


def verified(reader: SqliteReader, memory: int) -> int | None:
    """Return when a person last found a memory to be still true."""
    sql = "SELECT verified_at FROM freshness WHERE memory = ?"
    at: int | None = reader.db.execute(sql, (memory,)).get
    return at


def files(reader: SqliteReader, after: tuple[int, str], limit: int) -> list[FileRow]:
    """Return the next files that current memories name, beyond `after`: a memory's row and a path."""
    return [FileRow(row) for row in reader.db.execute(_FILES, (*after, limit))]


def files_of(reader: SqliteReader, memory: int) -> list[FileRow]:
    """Return the files that a memory names."""
    return [FileRow(row) for row in reader.db.execute(_FILES_OF, (memory,))]


def note_changes(db: apsw.Connection, changes: Iterable[tuple[int | None, int, str]]) -> None:
    """Keep since when files differ, None where they do no longer: (when, memory, path). In the caller's transaction."""
    db.executemany("UPDATE file SET changed_at = ? WHERE memory = ? AND path = ?", changes)
