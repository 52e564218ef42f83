"""A store as it was before each of its memories, to work out again what that links to."""

from collections.abc import Iterable, Sequence
from typing import Any

from memman.model.vocabulary import HIDDEN
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.vectors import Partition


class _Earlier(Filters):
    """Admits what was current before row `memory` was recorded at `at` (Unix milliseconds)."""

    memory: int = 0
    at: int = 0

    def conditions(self) -> list[tuple[str, Any]]:
        """Return (SQL over memory `m` with one placeholder, value) for each condition."""
        return [("m.id < ?", self.memory), ("(m.retired_at IS NULL OR m.retired_at >= ?)", self.at)]


class PastReader(SqliteReader):
    """Reads of the memories before row `memory` as at `at`: superseded ones are current, hidden ones are not."""

    def __init__(self, today: SqliteReader, memory: int, at: int) -> None:
        self.today, self.db, self.has_vectors = today, today.db, today.has_vectors
        self.horizon = memory
        self.current = (
            f"m.id < {memory:d} AND m.status NOT IN {HIDDEN} AND (m.retired_at IS NULL OR m.retired_at >= {at:d})"
        )
        self._filters = _Earlier(history=True, memory=memory, at=at)

    def nearest(
        self,
        embedder: int,
        code: bytes,
        filters: Filters,  # noqa: ARG002 - the past is the filter
        limit: int,
        cells: Sequence[int] = (),
    ) -> list[tuple[int, int]]:
        """Return (id, Hamming distance in bits) of the sign codes nearest to `code` at that time."""
        return super().nearest(embedder, code, self._filters, limit, cells)

    def filtered(self, ids: Iterable[int], filters: Filters) -> set[int]:  # noqa: ARG002 - the past is the filter
        """Return those of `ids` that were current at that time."""
        return super().filtered(ids, self._filters)

    def partition(self, embedder: int) -> Partition:
        """Return the partition of `embedder`'s vectors, that of today."""
        return self.today.partition(embedder)
