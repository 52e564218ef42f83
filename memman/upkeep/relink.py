"""Working out edges and the text index of an open store again, as the rules of today would have it."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from memman.embed.base import Vectors
from memman.model.records import Fingerprint
from memman.model.vocabulary import HIDDEN
from memman.pipeline.link import LINKERS, Subject, connected
from memman.sqlite import LISTED, id_list
from memman.store.filters import Filters
from memman.store.sqlite import vectors, words
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit
from memman.store.sqlite.vectors import Partition

# Memories a transaction: a tenth of a second's work, and more than the facts of any note.
BATCH = 128


class _Earlier(Filters):
    """Admits what was current before row `memory` was recorded at `at` (Unix milliseconds)."""

    memory: int = 0
    at: int = 0

    def conditions(self) -> list[tuple[str, Any]]:
        """Return (SQL over memory `m` with one placeholder, value) for each condition."""
        return [("m.id < ?", self.memory), ("(m.retired_at IS NULL OR m.retired_at >= ?)", self.at)]


class _PastReader(SqliteReader):
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


@dataclass(frozen=True, slots=True)
class _Memory:
    """What linking needs to know of a stored memory. Times are Unix milliseconds, `entities` is a JSON list."""

    id: int
    text: str
    note: str
    origin: str
    valid_from: int
    recorded_at: int
    status: str
    entities: str


def relink_unlinked(store: SqliteStore, judge: Fingerprint, most: int) -> bool:
    """Link the memories whose edges nobody has made here, by a `judge`; return whether more than `most` are left."""
    done = 0
    for batch in _batches(store):
        if done >= most:
            return True
        with store.unit() as unit:
            _relink(store, unit, batch, judge)
        done += len(batch)
    return False


def relink(store: SqliteStore, judge: Fingerprint, progress: Callable[[int, int], None]) -> int:
    """Link the memories of an open store again, by a `judge`, and index their words, batch by batch; return how many.

    Where it is cut short, drains make the edges of the rest.
    """
    done, total = 0, store.reader.last()
    with store.unit() as unit:
        unit.unlinked(1, total)
    for batch in _batches(store):
        with store.unit() as unit:
            _relink(store, unit, batch, judge)
            words.index(unit.db, [memory.id for memory in batch])
        done += len(batch)
        progress(batch[-1].id, total)
    return done


def _relink(store: SqliteStore, unit: SqliteUnit, batch: Sequence[_Memory], judge: Fingerprint) -> None:
    """Link a batch again; drains do so once more if the judge has yet to read some of it."""
    for note in _notes(batch):
        _relink_note(store, unit, note, judge)
    ids = [memory.id for memory in batch]
    if len(_found(store, ids, judge)) == len(ids):
        store.db.execute(f"DELETE FROM unlinked WHERE memory {LISTED}", (id_list(ids),))


def _batches(store: SqliteStore) -> Iterator[list[_Memory]]:
    """Yield the memories without edges, cut between two notes."""
    after = 0
    while batch := _batch(store, after):
        yield batch
        after = batch[-1].id


def _batch(store: SqliteStore, after: int) -> list[_Memory]:
    columns = "id, text, note, origin, valid_from, recorded_at, status, entities"
    sql = f"SELECT {columns} FROM unlinked JOIN memory ON id = memory WHERE id > ? ORDER BY id LIMIT ?"
    batch = [_Memory(*row) for row in store.db.execute(sql, (after, BATCH))]
    whole = [memory for memory in batch if memory.note != batch[-1].note]
    return whole if len(batch) == BATCH and whole else batch


def _notes(batch: Sequence[_Memory]) -> Iterator[list[_Memory]]:
    """Yield the memories of each note, those hidden left out: they keep the edges they had."""
    for _, group in groupby(batch, lambda memory: memory.note):
        if note := [memory for memory in group if memory.status not in HIDDEN]:
            yield note


def _relink_note(store: SqliteStore, unit: SqliteUnit, note: Sequence[_Memory], judge: Fingerprint) -> None:
    """Link the memories of one note to those before them, as when they came in."""
    ids = tuple(memory.id for memory in note)
    subject = Subject(
        origin=note[0].origin,
        at=note[0].valid_from,
        ends=ids,
        texts=tuple(memory.text for memory in note),
        entities=tuple(tuple(json.loads(memory.entities)) for memory in note),
        judge=judge,
        about=_about(store, ids, judge),
    )
    for memory in ids:
        unit.unlink(tuple(LINKERS), memory)
    unit.link(connected(_PastReader(store.reader, ids[0], note[0].recorded_at), subject))


def _about(store: SqliteStore, ids: Sequence[int], judge: Fingerprint) -> Vectors:
    """Return the vectors that a judge has made of memories, a zero row for one that it has not read."""
    stored = _found(store, ids, judge)
    nothing = np.zeros(judge.dimension, np.float32)
    return np.stack([stored.get(memory, nothing) for memory in ids])


def _found(store: SqliteStore, ids: Sequence[int], judge: Fingerprint) -> dict[int, Vectors]:
    number = store.reader.embedder_id(judge)
    return vectors.unpacked(store.db, number, ids) if number is not None else {}
