"""The judge's vectors of memories: what each speaks of, made in the drain."""

from collections.abc import Iterable, Mapping, Sequence

from memman.embed import Embedding, Vectors
from memman.embed.codes import cosines, planes
from memman.embed.static import sign_code
from memman.judge.judge import ABOUT, Judge
from memman.model.records import Fingerprint, Usage
from memman.model.vocabulary import JUDGE
from memman.pipeline.context import Cell
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.unit import SqliteUnit

EVERYTHING = Filters()


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


def put(unit: SqliteUnit, cell: Cell, judge: Judge, texts: Mapping[int, str]) -> None:
    """Store the vectors of memories."""
    number = unit.embedder(fingerprint(judge))
    rows = zip(texts, judge.about(list(texts.values())), strict=True)
    unit.put_vectors(number, [(memory, cell(number, row), *planes(row)) for memory, row in rows])


def nearest(reader: SqliteReader, judge: Judge, text: str, limit: int, filters: Filters = EVERYTHING) -> list[int]:
    """Return the memories that speak of nearly what `text` speaks of, by their sign codes."""
    number, vector = _found(reader, judge, text)
    if number is None:
        return []
    cells = reader.cells_near(number, vector)
    return [memory for memory, _ in reader.nearest(number, sign_code(vector.tolist()), filters, limit, cells)]


def alike(reader: SqliteReader, judge: Judge, text: str, memories: Iterable[int]) -> dict[int, float]:
    """Return how alike `text` and each memory are in what they speak of; none for a memory without a vector."""
    number, vector = _found(reader, judge, text)
    return {} if number is None else cosines(vector, reader.planes(number, memories))


def _found(reader: SqliteReader, judge: Judge, text: str) -> tuple[int | None, Vectors]:
    return reader.embedder_id(fingerprint(judge)), judge.about([text])[0]
