"""A reader that answers the linkers' questions from memory; everything else it asks the store.

The newest of an origin, of an entity and of a moment are those the store would name. The nearest by meaning are
looked for among the last WINDOW memories only.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from memman.embed.base import Vectors
from memman.judge.judge import ABOUT
from memman.pipeline.plan import Plan
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader

# The memories among which the nearest by meaning are looked for.
WINDOW = 4_096
# The newest memories kept for an entity and of a moment: more than any linker asks for.
_KEPT = 20


def _tokens(text: str) -> list[str]:
    """Return the words of a text by which a name is found in it."""
    return [word.strip(".,;:!?()[]\"'").casefold() for word in text.split()]


class Recent:
    """What was stored last, in memory: it must see every memory of a store, from the first on.

    `reader` reads the store itself.
    """

    reader: SqliteReader

    def __init__(self) -> None:
        self._count = 0
        self._last: dict[str, int] = {}
        self._newest: deque[tuple[int, int]] = deque(maxlen=_KEPT)
        self._named: dict[str, tuple[int, deque[int]]] = defaultdict(lambda: (0, deque(maxlen=_KEPT)))
        self._ids = np.zeros(WINDOW, np.int64)
        self._codes = np.zeros((0, WINDOW), np.uint64)
        self._asked = np.zeros(0, np.uint64)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def take(self, plan: Plan) -> None:
        """See the memories of a note that was just stored, one row after another."""
        assert plan.local is not None  # noqa: S101 - every plan here has its vectors
        for fact, vector in zip(plan.facts, plan.local, strict=True):
            self._count += 1
            self._last[plan.note.provenance.origin] = self._count
            self._newest.appendleft((self._count, plan.note.queued_at))
            for name in {*map(str.casefold, fact.entities), *_tokens(fact.text)}:
                count, ids = self._named[name]
                ids.appendleft(self._count)
                self._named[name] = count + 1, ids
            self._keep(_signs(vector[:ABOUT]))

    def _keep(self, code: np.ndarray) -> None:
        if not self._codes.size:
            self._codes = np.zeros((len(code), WINDOW), np.uint64)
        place = (self._count - 1) % WINDOW
        self._ids[place], self._codes[:, place] = self._count, code

    def count(self) -> int:
        """Return how many memories were ever stored."""
        return self._count

    def newest_of(self, origin: str, limit: int) -> list[int]:  # noqa: ARG002 - the reader's own shape
        """Return the newest memory of `origin`."""
        return [self._last[origin]] if origin in self._last else []

    def recent(self, since: int, limit: int) -> list[tuple[int, int]]:
        """Return (id, valid_from) of the newest memories that began to hold after `since`."""
        return [(memory, at) for memory, at in self._newest if at > since][:limit]

    def mentions(self, entity: str, limit: int) -> tuple[int, list[int]]:
        """Return how many memories mention `entity`, and the newest ones."""
        count, ids = self._named.get(entity.casefold(), (0, ()))
        return count, list(ids)[:limit]

    def cells_near(self, embedder: int, vector: Vectors) -> list[int]:  # noqa: ARG002 - the reader's own shape
        """Name no cell, for the window has none, but remember what is asked for."""
        self._asked = _signs(vector)
        return []

    def nearest(
        self,
        embedder: int,  # noqa: ARG002
        code: bytes,  # noqa: ARG002
        filters: Filters,  # noqa: ARG002
        limit: int,
        cells: Sequence[int] = (),  # noqa: ARG002
    ) -> list[tuple[int, int]]:
        """Return (id, Hamming distance) of the window's nearest to the vector whose cells were asked for."""
        held = min(self._count, WINDOW) if self._codes.size else 0
        if not held:
            return []
        away = np.bitwise_count(self._codes[:, :held] ^ self._asked[:, None]).sum(axis=0, dtype=np.int64)
        # Ties go to the lower id, as in the store.
        keys = away << 32 | self._ids[:held]
        best = np.sort(np.partition(keys, min(limit, held - 1))[:limit])
        return [(int(key & 0xFFFFFFFF), int(key >> 32)) for key in best]

    def filtered(self, ids: Iterable[int], filters: Filters) -> set[int]:  # noqa: ARG002 - the reader's own shape
        """Return all: every memory is current."""
        return set(ids)


def _signs(vector: Vectors) -> np.ndarray:
    return np.packbits(np.asarray(vector) > 0).view(np.uint64)
