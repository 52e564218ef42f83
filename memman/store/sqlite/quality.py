"""What lists and lint ask of current memories: what speaks for keeping each, files they name, and which to compare."""

from collections.abc import Iterable, Sequence

import apsw

from memman.belief import APPROVED, FOR, reliability, sessions
from memman.model.vocabulary import EDGE_KINDS, WISH
from memman.model.worth import Kept
from memman.sqlite import LISTED, Row, id_list
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.scopes import PERSONAL

_CURRENT = "SELECT m.id FROM memory m WHERE m.status = 'current'"
# 2^32 over the golden ratio: its multiples fall evenly over the store, the same each time.
_SPREAD = "(m.id * 2654435769) & 0xFFFFFFFF"
_NEIGHBOURS = f"""
SELECT DISTINCT min(src, dst), max(src, dst) FROM (
    SELECT src, dst, weight, row_number() OVER (PARTITION BY src ORDER BY weight DESC, dst) AS place
    FROM link JOIN memory a ON a.id = src JOIN memory b ON b.id = dst
    WHERE kind = {EDGE_KINDS.index("semantic")} AND a.status = 'current' AND b.status = 'current'
    AND src {LISTED} AND (coalesce((SELECT scope FROM scoped WHERE memory = src), {PERSONAL}) IN (
            {PERSONAL}, coalesce((SELECT scope FROM scoped WHERE memory = dst), {PERSONAL}))
        OR NOT EXISTS (SELECT 1 FROM scoped WHERE memory = dst AND scope <> {PERSONAL}))
) WHERE place <= ? ORDER BY 2, 1
"""
_KEPT = """
SELECT a.id, b.id FROM log JOIN memory a ON a.uid = log.memory
JOIN memory b ON b.uid = json_extract(log.before, '$.maybe_replaced_by') WHERE log.verb = 'keep'
"""
# A session that was shown a memory counts once; before that was recorded, each time did.
_STANDINGS = """
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


def current(reader: SqliteReader) -> int:
    """Count the current memories."""
    return int(reader.db.execute(f"SELECT count(*) FROM ({_CURRENT})").get)


def sample(reader: SqliteReader, most: int) -> list[int]:
    """Return up to `most` current memories from all over the store, the same each time."""
    return _ids(reader, f"SELECT id FROM ({_CURRENT} ORDER BY {_SPREAD}, m.id LIMIT {most:d}) ORDER BY id")


def neighbours(reader: SqliteReader, ids: Iterable[int], each: int) -> list[tuple[int, int]]:
    """Return (older, newer) of the `each` current memories most alike to each of `ids`, which hold where it does."""
    return list(reader.db.execute(_NEIGHBOURS, (id_list(ids), each)))


def kept_apart(reader: SqliteReader) -> set[tuple[int, int]]:
    """Return (older, newer) of what a person has decided to keep beside each other."""
    return set(reader.db.execute(_KEPT))


def without_edges(reader: SqliteReader) -> list[int]:
    """Return the current memories that no edge touches."""
    ends = (f"NOT EXISTS (SELECT 1 FROM link WHERE {end} = m.id)" for end in ("src", "dst"))
    return _ids(reader, f"{_CURRENT} AND {' AND '.join(ends)} ORDER BY m.id")


def _ids(reader: SqliteReader, sql: str) -> list[int]:
    return [memory for (memory,) in reader.db.execute(sql)]


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
    return [Standing(row) for row in reader.db.execute(_STANDINGS)]


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
