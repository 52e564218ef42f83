"""A memory is found by its own words and meaning, and by a share of its neighbours' in the session (docs/adr/0012)."""

from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np

from memman.embed import LocalEmbedder, Vectors
from memman.embed.codes import planes
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.unit import SqliteUnit

# Finds the place of an embedder's vector in the partition.
Cell = Callable[[int, Vectors], int]
# The part a neighbour has in a vector, by how far away it is.
SHARES = (1.0, 0.2, 0.1)
# The part that the questions have together which a model says the memory answers.
QUESTIONS = 0.5


def index(unit: SqliteUnit, local: LocalEmbedder, cell: Cell, memories: Sequence[int]) -> None:
    """Index memories by words and by `local`'s vectors, and again the neighbours whose context they change."""
    touched = unit.touched(memories)
    unit.index(touched)
    embed(unit, local, cell, touched)


def cosines(reader: SqliteReader, local: LocalEmbedder, vector: Vectors, memories: Iterable[int]) -> dict[int, float]:
    """Return the cosine between `vector` and each memory's own text, without what stands around it."""
    texts = reader.texts(memories)
    found: list[float] = (local.vectors(list(texts.values())) @ vector).tolist()
    return dict(zip(texts, found, strict=True))


def embed(
    unit: SqliteUnit,
    local: LocalEmbedder,
    cell: Cell,
    memories: Sequence[int],
    shares: Sequence[float] = SHARES,
) -> None:
    """Store `local`'s vectors of `memories`, each with its context."""
    number = unit.embedder(local.fingerprint)
    around = [unit.in_context(memory) for memory in memories]
    asked = [unit.questions(memory) for memory in memories]
    texts = list(dict.fromkeys(chain((text for near in around for _, _, text in near), *asked)))
    known = dict(zip(texts, local.vectors(texts), strict=True))
    rows = []
    for memory, near, some in zip(memories, around, asked, strict=True):
        parts = [shares[distance] * known[text] for distance, _, text in near]
        vector = np.sum(parts + [QUESTIONS / len(some) * known[text] for text in some], axis=0)
        rows.append((memory, cell(number, vector), *planes(vector)))
    unit.put_vectors(number, rows)
