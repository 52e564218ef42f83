"""A coarse partition of a store's vectors, so that finding neighbours stays bounded as the store grows.

Spherical k-means over a sample, as in inverted-file indexes (Jégou, Douze and
Schmid 2011). A store below LEAST rows is one cell.
"""

import math
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from memman.sqlite import Transaction
from memman.store.sqlite.schema import HIDDEN_CELL

# One cell up to here: scanning so few codes costs less than a millisecond.
LEAST = 4_000
# Cells hold about this many codes; so many of them are searched.
ROWS_PER_CELL = 200
PROBES = 8
# The partition is made afresh when the store has grown by this factor.
GROWTH = 3
_SAMPLE = 16_000
_ROUNDS = 6
_SEED = 20_240_501
_BATCH = 4_096

Matrix = npt.NDArray[np.float32]


class Partition:
    """The centroids of one embedder's cells: float32, shape (cells, dimension), unit rows."""

    def __init__(self, centroids: Matrix) -> None:
        self.centroids = centroids

    @classmethod
    def load(cls, db: apsw.Connection, embedder: int) -> "Partition":
        """Read the centroids of `embedder`, none for a store that is one cell."""
        sql = "SELECT centroid FROM cell WHERE embedder = ? ORDER BY id"
        rows: list[Any] = db.execute(sql, (embedder,)).fetchall()
        return cls(np.array([np.frombuffer(blob, np.float32) for (blob,) in rows], np.float32))

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
    rows: int = db.execute("SELECT count(*) FROM vector WHERE embedder = ?", (embedder,)).get
    cells: int = db.execute("SELECT count(*) FROM cell WHERE embedder = ?", (embedder,)).get
    return rows >= max(LEAST, GROWTH * cells * ROWS_PER_CELL)


def divide(db: apsw.Connection, embedder: int) -> None:
    """Partition all vectors of `embedder` afresh, in one transaction."""
    with Transaction(db):
        ids, vectors = _vectors(db, embedder)
        centroids = _centroids(vectors, math.ceil(len(ids) / ROWS_PER_CELL))
        cells = np.concatenate(
            [np.argmax(vectors[i : i + _BATCH] @ centroids.T, axis=1) for i in range(0, len(ids), _BATCH)]
        )
        db.execute("DELETE FROM cell WHERE embedder = ?", (embedder,))
        db.executemany(
            "INSERT INTO cell VALUES (?, ?, ?)", [(embedder, n, row.tobytes()) for n, row in enumerate(centroids)]
        )
        moves = list(zip(cells.tolist(), ids, strict=True))
        db.executemany(
            "UPDATE vector SET cell = ? WHERE embedder = ? AND memory = ?", [(c, embedder, m) for c, m in moves]
        )
        db.execute("CREATE TEMP TABLE moved AS SELECT memory, cell, code FROM code WHERE embedder = ?", (embedder,))
        db.execute("DELETE FROM code WHERE embedder = ?", (embedder,))
        db.execute(
            "INSERT INTO code SELECT ?1, CASE o.cell WHEN ?2 THEN ?2 ELSE v.cell END, o.memory, o.code"
            " FROM temp.moved o JOIN vector v ON v.embedder = ?1 AND v.memory = o.memory ORDER BY 2, 3",
            (embedder, HIDDEN_CELL),
        )
        db.execute("DROP TABLE temp.moved")


def _vectors(db: apsw.Connection, embedder: int) -> tuple[list[int], Matrix]:
    sql = "SELECT memory, vector FROM vector WHERE embedder = ? ORDER BY memory"
    rows: list[Any] = db.execute(sql, (embedder,)).fetchall()
    packed = np.frombuffer(b"".join(blob for _, blob in rows), np.int8).reshape(len(rows), -1)
    return [memory for memory, _ in rows], _unit(packed.astype(np.float32))


def _unit(vectors: Matrix) -> Matrix:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1), np.float32)


def _centroids(vectors: Matrix, cells: int) -> Matrix:
    chance = np.random.default_rng(_SEED)
    sample = vectors[np.sort(chance.permutation(len(vectors))[:_SAMPLE])]
    centroids = sample[np.sort(chance.permutation(len(sample))[:cells])]
    for _ in range(_ROUNDS):
        nearest = np.argmax(sample @ centroids.T, axis=1)
        sums = np.zeros_like(centroids)
        np.add.at(sums, nearest, sample)
        empty = ~sums.any(axis=1)
        sums[empty] = centroids[empty]
        centroids = _unit(sums)
    return centroids
