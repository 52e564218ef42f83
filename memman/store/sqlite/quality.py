"""What lint reads: a sample of the current memories, pairs of them that are alike, and what hangs on nothing."""

from collections.abc import Iterable

from memman.model.vocabulary import EDGE_KINDS
from memman.sqlite import LISTED, id_list
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


def repositories(reader: SqliteReader) -> dict[str, list[int]]:
    """Return the current memories of each repository that memories hold for."""
    found: dict[str, list[int]] = {}
    sql = (
        "SELECT s.repository, m.id FROM scope s JOIN scoped ON scoped.scope = s.id JOIN memory m ON m.id = memory"
        " WHERE m.status = 'current' AND s.repository <> '' ORDER BY m.id"
    )
    for repository, memory in reader.db.execute(sql):
        found.setdefault(repository, []).append(memory)
    return found


def _ids(reader: SqliteReader, sql: str) -> list[int]:
    return [memory for (memory,) in reader.db.execute(sql)]
