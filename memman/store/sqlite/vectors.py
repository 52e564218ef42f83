"""A store's vectors, embedder by embedder; functions that write run inside the caller's transaction.

A large store's vectors are parted by spherical k-means over a sample, so that search stays bounded.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from memman.embed import base as codes
from memman.embed.base import Vectors
from memman.model.records import Fingerprint
from memman.model.vocabulary import BUILTIN, FILLED, HIDDEN, JUDGE, ON_MACHINE
from memman.sqlite import LISTED, id_list
from memman.store.sqlite.schema import HIDDEN_CELL

# Memory, cell, planes, squared length.
Row = tuple[int, int, bytes, int]

_LIVE = f"m.status NOT IN {HIDDEN}"
# The other versions of an embedder of this machine.
_OTHERS = (
    "SELECT o.id FROM embedder e JOIN embedder o ON o.provider = e.provider AND o.id <> e.id"
    f" WHERE e.id = ? AND e.provider IN {ON_MACHINE}"
)
# So many of the cells around a vector are searched.
PROBES = 5
# Below so many vectors a store is one cell, scanned in less than a millisecond; above, so many rows make a cell.
LEAST, ROWS = 4_000, 200
# The partition is made afresh when the store has grown by this factor.
GROWTH = 3
_SAMPLE = 16_000
_ROUNDS = 6
_SEED = 20_240_501
_BATCH = 4_096
# Centroids of half precision fit into a page with others; of single precision each takes two.
_STORED = np.float16
Matrix = npt.NDArray[np.float32]


def missing(db: apsw.Connection, embedder: int, after: int, limit: int, *, forgotten: bool) -> list[tuple[int, str]]:
    """Return (id, text) of memories beyond row `after` without a vector of `embedder`, hidden ones if wanted."""
    sql = (
        "SELECT m.id, m.text FROM memory m LEFT JOIN vector v ON v.embedder = ? AND v.memory = m.id"
        f" WHERE m.id > ? AND v.memory IS NULL AND (? OR {_LIVE}) ORDER BY m.id LIMIT ?"
    )
    return list(db.execute(sql, (embedder, after, forgotten, limit)))


def outdate(db: apsw.Connection, memories: Iterable[int]) -> None:
    """Have drains make the built-in vectors of memories anew; recall searches those of before meanwhile."""
    sql = f"INSERT OR IGNORE INTO outdated SELECT m.id FROM memory m WHERE {_LIVE} AND m.id {LISTED}"
    db.execute(sql, (id_list(memories),))


def outdated(db: apsw.Connection, limit: int) -> list[tuple[int, str]]:
    """Return (id, text) of memories whose built-in vectors are to be made anew."""
    return list(db.execute("SELECT id, text FROM outdated JOIN memory ON id = memory ORDER BY id LIMIT ?", (limit,)))


def wipe(db: apsw.Connection, memories: Sequence[int], provider: str = "*") -> None:
    """Drop vectors in which something is that must go; drains make those of this machine anew."""
    for number in [n for (n,) in db.execute("SELECT id FROM embedder WHERE provider GLOB ?", (provider,))]:
        for memory in memories:
            _drop(db, number, memory)
    outdate(db, memories)


def lacking(db: apsw.Connection, embedder: int | None, *, forgotten: bool, renewed: bool) -> int:
    """Count the memories without a vector of `embedder`, hidden ones if wanted, and if `renewed` the outdated ones."""
    has = "SELECT 1 FROM vector v WHERE v.embedder = ? AND v.memory = m.id"
    lacks = f"(NOT EXISTS ({has}) OR ? AND m.id IN (SELECT memory FROM outdated))"
    sql = f"SELECT count(*) FROM memory m WHERE (? OR {_LIVE}) AND {lacks}"
    return int(db.execute(sql, (forgotten, embedder, renewed)).get)


def memories(db: apsw.Connection) -> int:
    """Count the memories that are not hidden."""
    return int(db.execute(f"SELECT count(*) FROM memory m WHERE {_LIVE}").get)


def tally(db: apsw.Connection) -> dict[Fingerprint, int]:
    """Count, for each embedder but the judge, the memories not hidden that have a vector of it."""
    sql = (
        "SELECT e.provider, e.model, e.dimension, count(m.id) FROM embedder e LEFT JOIN vector v ON v.embedder = e.id"
        f" LEFT JOIN memory m ON m.id = v.memory AND {_LIVE} WHERE e.provider != '{JUDGE}' GROUP BY e.id ORDER BY e.id"
    )
    return {Fingerprint(*made): count for *made, count in db.execute(sql)}


def put(db: apsw.Connection, embedder: int, rows: Iterable[Row]) -> None:
    """Store vectors of memories that are still there; the codes of hidden ones wait out of sight.

    A vector of this machine takes the place of the one that another version made, which has a gap there from then on.
    """
    others = [number for (number,) in db.execute(_OTHERS, (embedder,))]
    builtin = db.execute("SELECT provider = ? FROM embedder WHERE id = ?", (BUILTIN, embedder)).get
    for memory, cell, planes, squares in rows:
        for number in others:
            if _drop(db, number, memory):
                fall_back(db, memory, f"{FILLED}{number}")
        _drop_code(db, embedder, memory)
        if builtin:
            db.execute("DELETE FROM outdated WHERE memory = ?", (memory,))
        values = (embedder, cell, planes, squares, memory)
        db.execute("INSERT OR REPLACE INTO vector SELECT ?, id, ?, ?, ? FROM memory WHERE id = ?", values)
        if squares:
            db.execute(
                f"INSERT INTO code SELECT ?, iif(status IN {HIDDEN}, ?, ?), id, ? FROM memory WHERE id = ?",
                (embedder, HIDDEN_CELL, cell, codes.sign_code(planes), memory),
            )


def fall_back(db: apsw.Connection, memory: int, marks: str = f"{FILLED}*") -> None:
    """Let the vectors of embedders be known to go without a gap only to the row before `memory`."""
    sql = "UPDATE meta SET value = min(CAST(value AS INTEGER), ?) WHERE key GLOB ?"
    db.execute(sql, (memory - 1, marks))


def has(db: apsw.Connection, embedder: int) -> bool:
    """Whether any memory has a vector of `embedder`."""
    return bool(db.execute("SELECT EXISTS (SELECT 1 FROM vector WHERE embedder = ?)", (embedder,)).get)


def unpacked(db: apsw.Connection, embedder: int, ids: Iterable[int]) -> dict[int, Vectors]:
    """Return the vectors of `ids` as float32; their length is not one."""
    dimension = db.execute("SELECT dimension FROM embedder WHERE id = ?", (embedder,)).get
    sql = f"SELECT memory, planes FROM vector WHERE embedder = ? AND memory {LISTED}"
    return {memory: codes.unpacked(blob, dimension) for memory, blob in db.execute(sql, (embedder, id_list(ids)))}


def embedders(db: apsw.Connection) -> dict[Fingerprint, int]:
    """Return the number of each embedder the store has known, oldest first."""
    sql = "SELECT provider, model, dimension, id FROM embedder ORDER BY id"
    return {Fingerprint(*made): number for *made, number in db.execute(sql)}


def drop(db: apsw.Connection, embedder: int, limit: int) -> int:
    """Drop up to `limit` vectors of `embedder`, with the last of them the embedder itself; return how many went."""
    some = db.execute("SELECT memory FROM vector WHERE embedder = ? ORDER BY memory LIMIT ?", (embedder, limit))
    gone = [memory for (memory,) in some]
    for memory in gone:
        _drop(db, embedder, memory)
    if len(gone) < limit:
        db.execute("DELETE FROM code WHERE embedder = ?", (embedder,))
        db.execute("DELETE FROM cell WHERE embedder = ?", (embedder,))
        db.execute("DELETE FROM beacon WHERE embedder = ?", (embedder,))
        db.execute("DELETE FROM embedder WHERE id = ?", (embedder,))
    return len(gone)


def _drop(db: apsw.Connection, embedder: int, memory: int) -> bool:
    """Drop a memory's vector; False where it had none."""
    _drop_code(db, embedder, memory)
    db.execute("DELETE FROM vector WHERE embedder = ? AND memory = ?", (embedder, memory))
    return bool(db.changes())


def _drop_code(db: apsw.Connection, embedder: int, memory: int) -> None:
    """Drop a memory's sign code, wherever it lies."""
    cell = "SELECT cell FROM vector WHERE embedder = ?1 AND memory = ?2"
    sql = f"DELETE FROM code WHERE embedder = ?1 AND memory = ?2 AND cell IN (({cell}), ?3)"
    db.execute(sql, (embedder, memory, HIDDEN_CELL))


class Partition:
    """The centroids of one embedder's cells: float32, shape (cells, dimension), unit rows."""

    def __init__(self, centroids: Matrix) -> None:
        self.centroids = centroids

    @classmethod
    def load(cls, db: apsw.Connection, embedder: int) -> "Partition":
        """Read the centroids of `embedder`, none for a store that is one cell."""
        sql = "SELECT centroid FROM cell WHERE embedder = ? ORDER BY id"
        return cls(np.array([np.frombuffer(blob, _STORED) for (blob,) in db.execute(sql, (embedder,))], np.float32))

    def cell(self, vector: npt.ArrayLike) -> int:
        """Return the cell that `vector` belongs to."""
        return int(np.argmax(self.centroids @ np.asarray(vector, np.float32))) if len(self.centroids) else 0

    def near(self, vector: npt.ArrayLike) -> list[int]:
        """Return the cells around `vector`; empty means the whole store."""
        if len(self.centroids) <= PROBES:
            return []
        scores = self.centroids @ np.asarray(vector, np.float32)
        return sorted(np.argpartition(-scores, PROBES)[:PROBES].tolist())


def due(db: apsw.Connection, embedder: int) -> bool:
    """Whether the store has outgrown its partition."""
    cells = int(db.execute("SELECT count(*) FROM cell WHERE embedder = ?", (embedder,)).get)
    limit = max(LEAST, GROWTH * cells * ROWS)
    # The newest row is one look-up and no lower than the count, which reads the whole table.
    newest = db.execute("SELECT max(memory) FROM vector WHERE embedder = ?", (embedder,)).get or 0
    return newest >= limit and _rows(db, embedder) >= limit


def centres(db: apsw.Connection, embedder: int) -> Matrix:
    """Work out the centroids of as many cells as the vectors of `embedder` fill."""
    return _centroids(_sample(db, embedder), math.ceil(_rows(db, embedder) / ROWS))


def divide(db: apsw.Connection, embedder: int, centroids: Matrix) -> None:
    """Put all vectors of `embedder` into the cells of `centroids`, in the caller's transaction and drain lock."""
    for ids, vectors in _batches(db, embedder):
        cells = np.argmax(vectors @ centroids.T, axis=1).tolist()
        db.executemany(
            "UPDATE vector SET cell = ? WHERE embedder = ? AND memory = ?",
            [(cell, embedder, memory) for cell, memory in zip(cells, ids, strict=True)],
        )
    _move_codes(db, embedder)
    db.execute("DELETE FROM cell WHERE embedder = ?", (embedder,))
    db.execute("DELETE FROM beacon WHERE embedder = ?", (embedder,))
    rows = [(embedder, n, centroid.astype(_STORED).tobytes()) for n, centroid in enumerate(centroids)]
    db.executemany("INSERT INTO cell VALUES (?, ?, ?)", rows)
    beacons = [(embedder, n, codes.sign_code(codes.planes(centroid)[0])) for n, centroid in enumerate(centroids)]
    db.executemany("INSERT INTO beacon VALUES (?, ?, ?)", beacons)


def _move_codes(db: apsw.Connection, embedder: int) -> None:
    """Put every sign code where its vector is, in the order they are scanned in; hidden ones stay hidden."""
    db.execute("CREATE TEMP TABLE moved AS SELECT memory, cell, code FROM code WHERE embedder = ?", (embedder,))
    db.execute("DELETE FROM code WHERE embedder = ?", (embedder,))
    db.execute(
        "INSERT INTO code SELECT ?1, CASE o.cell WHEN ?2 THEN ?2 ELSE v.cell END, o.memory, o.code"
        " FROM temp.moved o JOIN vector v ON v.embedder = ?1 AND v.memory = o.memory ORDER BY 2, 3",
        (embedder, HIDDEN_CELL),
    )
    db.execute("DROP TABLE temp.moved")


def _rows(db: apsw.Connection, embedder: int) -> int:
    return int(db.execute("SELECT count(*) FROM vector WHERE embedder = ?", (embedder,)).get)


def _batches(db: apsw.Connection, embedder: int) -> Iterator[tuple[list[int], Matrix]]:
    """Read (ids, unit vectors) a batch at a time, so that a large store never lies in memory as a whole."""
    after = 0
    sql = "SELECT memory, planes FROM vector WHERE embedder = ? AND memory > ? ORDER BY memory LIMIT ?"
    dimension = db.execute("SELECT dimension FROM embedder WHERE id = ?", (embedder,)).get
    while True:
        rows: list[Any] = db.execute(sql, (embedder, after, _BATCH)).fetchall()
        if not rows:
            return
        yield [memory for memory, _ in rows], _unit(np.stack([codes.unpacked(blob, dimension) for _, blob in rows]))
        after = rows[-1][0]


def _sample(db: apsw.Connection, embedder: int) -> Matrix:
    """Return evenly many vectors of the whole store, _SAMPLE or a little fewer."""
    step = math.ceil(_rows(db, embedder) / _SAMPLE)
    kept, seen = [], 0
    for ids, vectors in _batches(db, embedder):
        kept.append(vectors[-seen % step :: step])
        seen += len(ids)
    return np.concatenate(kept)


def _unit(vectors: Matrix) -> Matrix:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), np.float32)


def _centroids(sample: Matrix, cells: int) -> Matrix:
    chance = np.random.default_rng(_SEED)
    centroids = sample[np.sort(chance.permutation(len(sample))[:cells])]
    for _ in range(_ROUNDS):
        nearest = np.argmax(sample @ centroids.T, axis=1)
        sums = np.zeros_like(centroids)
        np.add.at(sums, nearest, sample)
        empty = ~sums.any(axis=1)
        sums[empty] = centroids[empty]
        centroids = _unit(sums)
    return centroids
