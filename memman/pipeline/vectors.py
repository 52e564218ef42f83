"""The vectors of memories: by the configured embedder, by the judge, and by the built-in one in their context."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from memman.embed.base import Embedder, Embedding, LocalEmbedder, Vectors, cosines, planes
from memman.embed.static import sign_code
from memman.judge.judge import ABOUT, Judge
from memman.model.records import Fingerprint, Usage
from memman.model.vocabulary import JUDGE
from memman.pipeline.plan import Plan, Tools
from memman.store.filters import Filters
from memman.store.sqlite import words
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.unit import SqliteUnit

EVERYTHING = Filters()
# Finds the place of an embedder's vector in the partition.
Cell = Callable[[int, Vectors], int]
# The part a neighbour has in a vector, by how far away it is.
SHARES = (1.0, 0.2, 0.1)
# The part that the questions have together which a model says the memory answers.
QUESTIONS = 0.5


def version(tools: Tools) -> str:
    """Name what made the vectors."""
    return f"{tools.embedder.fingerprint.provider}/{tools.embedder.fingerprint.model}"


async def embed(tools: Tools, plan: Plan) -> Plan:
    """Embed all facts of the note in one call."""
    if tools.embedder is tools.local or not plan.facts:
        return replace(plan, vectors=plan.local)
    embedding = await tools.embedder.embed([fact.text for fact in plan.facts])
    return replace(plan, vectors=embedding.vectors)


def made_by(embedder: Embedder, vectors: Vectors) -> Fingerprint:
    """Return the fingerprint of `vectors`: journaled ones know their dimension before the embedder has learned it."""
    return replace(embedder.fingerprint, dimension=vectors.shape[1])


class JudgedVectors:
    """The judge's vectors behind the Embedder protocol, so that memories of before can be given theirs."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self.fingerprint = fingerprint(judge)

    async def embed(self, texts: Sequence[str]) -> Embedding:
        """Embed `texts`, at no cost."""
        return Embedding(self._judge.about(texts), Usage())

    async def close(self) -> None:
        """Hold nothing, release nothing."""


def fingerprint(judge: Judge) -> Fingerprint:
    """Name what made the vectors."""
    return Fingerprint(JUDGE, judge.name, ABOUT)


def put(unit: SqliteUnit, cell: Cell, made: Fingerprint, found: Mapping[int, Vectors]) -> None:
    """Store the vectors of memories."""
    number = unit.embedder(made)
    unit.put_vectors(number, [(memory, cell(number, row), *planes(row)) for memory, row in found.items()])


def nearest(
    reader: SqliteReader, made: Fingerprint, vector: Vectors, limit: int, filters: Filters = EVERYTHING
) -> list[int]:
    """Return the memories whose sign codes are nearest to `vector`, in the cells around it."""
    number = reader.embedder_id(made)
    if number is None or not np.any(vector):
        return []
    cells = reader.cells_near(number, vector)
    return [memory for memory, _ in reader.nearest(number, sign_code(vector.tolist()), filters, limit, cells)]


def near_about(reader: SqliteReader, judge: Judge, text: str, limit: int, filters: Filters = EVERYTHING) -> list[int]:
    """Return the memories that speak of nearly what `text` speaks of."""
    return nearest(reader, fingerprint(judge), judge.about([text])[0], limit, filters)


def alike(reader: SqliteReader, judge: Judge, text: str, memories: Iterable[int]) -> dict[int, float]:
    """Return how alike `text` and each memory are in what they speak of; none for a memory without a vector."""
    number = reader.embedder_id(fingerprint(judge))
    return {} if number is None else cosines(judge.about([text])[0], reader.planes(number, memories))


def index(unit: SqliteUnit, local: LocalEmbedder, cell: Cell, memories: Sequence[int]) -> None:
    """Index memories by words and by `local`'s vectors, and again the neighbours whose context they change."""
    touched = words.touched(unit.db, memories)
    words.index(unit.db, touched)
    embed_in_context(unit, local, cell, touched)


def text_cosines(
    reader: SqliteReader, local: LocalEmbedder, vector: Vectors, memories: Iterable[int]
) -> dict[int, float]:
    """Return the cosine between `vector` and each memory's own text, without what stands around it."""
    texts = reader.texts(memories)
    found: list[float] = (local.vectors(list(texts.values())) @ vector).tolist()
    return dict(zip(texts, found, strict=True))


def embed_in_context(
    unit: SqliteUnit,
    local: LocalEmbedder,
    cell: Cell,
    memories: Sequence[int],
    shares: Sequence[float] = SHARES,
) -> None:
    """Store `local`'s vectors of `memories`, each with its context."""
    number = unit.embedder(local.fingerprint)
    around = [words.in_context(unit.db, memory) for memory in memories]
    asked = [words.questions(unit.db, memory) for memory in memories]
    texts = list(dict.fromkeys(chain((text for near in around for _, _, text in near), *asked)))
    known = dict(zip(texts, local.vectors(texts), strict=True))
    rows = []
    for memory, near, some in zip(memories, around, asked, strict=True):
        parts = [shares[distance] * known[text] for distance, _, text in near]
        vector = np.sum(parts + [QUESTIONS / len(some) * known[text] for text in some], axis=0)
        rows.append((memory, cell(number, vector), *planes(vector)))
    unit.put_vectors(number, rows)
