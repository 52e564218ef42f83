"""A coarse partition of a store's vectors by spherical k-means over a sample, so that search stays bounded."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from memman.embed.codes import planes, sign_code, unpacked
from memman.store.sqlite.schema import HIDDEN_CELL

# So many of the cells around a vector are searched.
PROBES = 5
# The partition is made afresh when the store has grown by this factor.
GROWTH = 3
_SAMPLE = 16_000
_ROUNDS = 6
_SEED = 20_240_501
_BATCH = 4_096
# Centroids of half precision fit into a page with others; of single precision each takes two.
_STORED = np.float16

Matrix = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Grain:
    """Below `least` vectors a store is one cell, scanned in less than a millisecond; above, `rows` make a cell."""

    least: int = 4_000
    rows: int = 200


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


def due(db: apsw.Connection, embedder: int, grain: Grain) -> bool:
    """Whether the store has outgrown its partition."""
    cells = int(db.execute("SELECT count(*) FROM cell WHERE embedder = ?", (embedder,)).get)
    limit = max(grain.least, GROWTH * cells * grain.rows)
    # The newest row is one look-up and no lower than the count, which reads the whole table.
    newest = db.execute("SELECT max(memory) FROM vector WHERE embedder = ?", (embedder,)).get or 0
    return newest >= limit and _rows(db, embedder) >= limit


def centres(db: apsw.Connection, embedder: int, grain: Grain) -> Matrix:
    """Work out the centroids of as many cells as the vectors of `embedder` fill."""
    return _centroids(_sample(db, embedder), math.ceil(_rows(db, embedder) / grain.rows))


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
    codes = [(embedder, n, sign_code(planes(centroid)[0])) for n, centroid in enumerate(centroids)]
    db.executemany("INSERT INTO beacon VALUES (?, ?, ?)", codes)


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
        yield [memory for memory, _ in rows], _unit(np.stack([unpacked(blob, dimension) for _, blob in rows]))
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
