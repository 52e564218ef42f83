"""What linkers are told: the facts of one note, about to be stored or stored long ago."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from memman.embed import LocalEmbedder, Vectors
from memman.embed.static import query_planes
from memman.model.records import Fingerprint
from memman.pipeline.context import cosines
from memman.store.sqlite.reader import SqliteReader


class Judged(NamedTuple):
    """What the judge makes of the facts: unit vectors of what each speaks of, a zero row for one it has not read."""

    fingerprint: Fingerprint
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts of one note, in order. `at` is when they began to hold, in Unix milliseconds.

    `ends` is how edges name each fact: its row id, or a stand-in below zero.
    `vectors` were made by `fingerprint`: float32 of shape (facts, dimension),
    a zero row for a fact that has none. `local` is set where that is the
    built-in embedder, whose stored vectors hold more than the memory's own text.
    """

    origin: str
    at: int
    ends: tuple[int, ...]
    texts: tuple[str, ...]
    entities: tuple[tuple[str, ...], ...]
    fingerprint: Fingerprint
    vectors: Vectors
    local: LocalEmbedder | None = None
    judged: Judged | None = None

    def cosines(self, reader: SqliteReader, fact: int, memories: Iterable[int]) -> dict[int, float]:
        """Return the cosines between a fact and memories that have a vector, none for a zero vector."""
        vector, number = self.vectors[fact], reader.embedder_id(self.fingerprint)
        if self.local is not None:
            return cosines(reader, self.local, vector, memories) if vector.any() else {}
        return {} if number is None else reader.cosines(number, query_planes(vector.tolist()), memories)
