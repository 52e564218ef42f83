"""What lets many notes be written together: their indexing put off, their vectors kept."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from cachetools import LRUCache

from bench.recent import WINDOW
from memman.embed.base import LocalEmbedder, Vectors
from memman.embed.bert import EPSILON
from memman.judge.embedder import BuiltinEmbedder
from memman.judge.judge import ABOUT, Judge
from memman.pipeline.plan import Plan
from memman.pipeline.vectors import index
from memman.store.sqlite.unit import SqliteUnit


class Gathered:
    """A transaction that leaves indexing to the end of a session."""

    def __init__(self, unit: SqliteUnit) -> None:
        self._unit = unit
        self.rows: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._unit, name)

    def touched(self, memories: Sequence[int]) -> list[int]:
        """Remember what is to be indexed, and let nothing be indexed now."""
        self.rows += memories
        return []

    def flush(self, local: LocalEmbedder, cell: Callable[[int, Vectors], int]) -> None:
        """Index what was gathered."""
        index(self._unit, local, cell, self.rows)
        self.rows.clear()


class Unread(Judge):
    """A judge that reads nothing: what a text speaks of it takes from its vector."""

    def __init__(self, local: LocalEmbedder) -> None:
        super().__init__()
        self._local = local

    def about(self, texts: Sequence[str]) -> Vectors:
        """Return the first elements of each text's vector, of unit length."""
        found = self._local.vectors(texts)[:, :ABOUT]
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), EPSILON)
        return found


class Remembering(BuiltinEmbedder):
    """The built-in embedder with a longer memory, also for what another process has embedded."""

    def __init__(self) -> None:
        super().__init__()
        self._texts = LRUCache(2 * WINDOW)

    def take(self, plan: Plan) -> None:
        """Remember the vectors of a note's facts."""
        assert plan.local is not None  # noqa: S101 - every plan here has its vectors
        self._texts.update(zip((fact.text for fact in plan.facts), plan.local, strict=True))
