"""What linkers are told: the facts of one note, about to be stored or stored long ago."""

from dataclasses import dataclass

from memman.embed import Vectors
from memman.model.records import Fingerprint


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts of one note, in order. `at` is when they began to hold, in Unix milliseconds.

    `ends` is how edges name each fact: its row id, or a stand-in below zero.
    `vectors` were made by `fingerprint`: float32 of shape (facts, dimension),
    a zero row for a fact that has none.
    """

    origin: str
    at: int
    ends: tuple[int, ...]
    entities: tuple[tuple[str, ...], ...]
    fingerprint: Fingerprint
    vectors: Vectors
