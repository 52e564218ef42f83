"""What is fitted on the judge and kept in heads.json: heads that read its early vectors, and when a statement ends."""

import json
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from memman.embed.base import Vectors

# What lies between two passages: nothing, a line's end, an empty line.
GAPS = range(3)
# How much a passage's own share counts: neighbours have been read for it already.
_OWN = 0.7
_LEAST = 1e-6
Gaps = Sequence[int]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chain:
    """How often a passage is somebody else's: any, the first of a message, and by gap behind an own and another's.

    Who pastes, pastes more than one sentence: a hidden Markov chain of two states, read by the forward-backward
    algorithm (Rabiner, A Tutorial on Hidden Markov Models, 1989).
    """

    any: float
    first: float
    behind: tuple[tuple[float, float], ...]

    def smoothed(self, shares: Array, gaps: Gaps) -> Array:
        """Return how probably each passage of a message is somebody else's; `gaps` are those between them."""
        likely = np.clip(shares, _LEAST, 1 - _LEAST)
        seen = np.c_[(1 - likely) / (1 - self.any), likely / self.any] ** _OWN
        steps = [np.array([[1 - share, share] for share in self.behind[gap]]) for gap in gaps]
        forward, backward = [np.array([1 - self.first, self.first]) * seen[0]], [np.ones(2)]
        for step, here in zip(steps, seen[1:], strict=True):
            forward.append(_scaled((forward[-1] @ step) * here))
        for step, there in zip(steps[::-1], seen[:0:-1], strict=True):
            backward.append(_scaled(step @ (there * backward[-1])))
        both = np.array(forward) * np.array(backward[::-1])
        found: Array = both[:, 1] / both.sum(1)
        return found

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Chain":
        """Read a chain as it is written down."""
        return cls(record["any"], record["first"], tuple((own, theirs) for own, theirs in record["behind"]))


def gaps(text: str, passages: Sequence[tuple[int, int]]) -> list[int]:
    """Return what lies between the passages of a message."""
    return [min(text.count("\n", end, start), GAPS[-1]) for (_, end), (start, _) in pairwise(passages)]


def _scaled(pair: Array) -> Array:
    found: Array = pair / pair.sum()
    return found


HEADS = "heads.json"
PERSONAL, PASTED, STEERING = "personal", "pasted", "steering"
# Runs of so many letters are counted, each in one of so many buckets.
RUNS, BUCKETS = range(1, 6), 16_384
_DIGITS = ord("0"), ord("9")
# The judge reads some scripts worse than others, and is less sure of all they say: each has thresholds of its own.
SCRIPTS = {"latin": ("a", "\u024f"), "cyrillic": ("\u0400", "\u052f"), "ideographs": ("\u3040", "\u9fff")}
# FNV's prime, and the golden ratio's bits, which spread what is alike.
_PRIME, _SPREAD = np.uint64(1_099_511_628_211), np.uint64(0x9E37_79B9_7F4A_7C15)


@dataclass(frozen=True, slots=True)
class Head:
    """The weights of one question, by script the probabilities of a yes; with a `chain` texts are of one message."""

    bars: Mapping[str, Sequence[float]]
    vectors: Vectors
    letters: Vectors
    bias: float
    chain: Chain | None = None

    def bands(self, vectors: Vectors, texts: Sequence[str], gaps: Gaps = ()) -> list[int]:
        """Return how many of the thresholds each text passes, given a vector of each (texts, elements)."""
        shares = 1 / (1 + np.exp(-self.logits(vectors, texts)))
        shares = self.chain.smoothed(shares, gaps) if self.chain else shares
        found = zip(texts, shares.tolist(), strict=True)
        return [sum(share > bar for bar in self.bars[script(text)]) for text, share in found]

    def logits(self, vectors: Vectors, texts: Sequence[str]) -> Vectors:
        """Return how much speaks for a yes."""
        found: Vectors = vectors @ self.vectors + np.float32(self.bias)
        if self.letters.any():
            runs = [letters(text) for text in texts]
            found += np.array([self.letters[run].sum() / np.sqrt(len(run)) for run in runs], np.float32)
        return found

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Head":
        """Read a head as it is written down, the weights of runs of letters as int8."""
        levels = np.frombuffer(b64decode(record["letters"]), np.int8)
        vectors = np.frombuffer(b64decode(record["vectors"]), "<f2").astype(np.float32)
        chain = Chain.of(record["chain"]) if record["chain"] else None
        return cls(record["bars"], vectors, levels * np.float32(record["grain"]), record["bias"], chain)


def read(path: str, judge: str) -> dict[str, Head]:
    """Read the heads fitted to this judge, none for another's. Raises OSError, ValueError or KeyError."""
    with open(path, encoding="utf-8") as file:
        said = json.load(file)
    return {name: Head.of(one) for name, one in said["heads"].items()} if said["judge"] == judge else {}


def script(text: str) -> str:
    """Return the script that most letters of a text are in, of one in another the first of the table."""
    said = text.casefold()
    counts = {name: sum(first <= char <= last for char in said) for name, (first, last) in SCRIPTS.items()}
    return max(counts, key=lambda name: counts[name])


def letters(text: str) -> npt.NDArray[np.int64]:
    """Return the buckets of the runs of letters in a text, each once; digits count as one."""
    folded = f" {' '.join(text.casefold().split())} "
    code = np.frombuffer(folded.encode("utf-32-le", "replace"), np.uint32).astype(np.uint64)
    code[(code >= _DIGITS[0]) & (code <= _DIGITS[1])] = _DIGITS[0]
    found = []
    for size in RUNS:
        mixed = np.full(max(len(code) - size + 1, 0), size, np.uint64)
        for at in range(size):
            mixed = mixed * _PRIME + code[at : at + len(mixed)]
        found.append(mixed)
    mixed = np.concatenate(found)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _SPREAD
    return np.unique((mixed ^ (mixed >> np.uint64(32))) % np.uint64(BUCKETS)).astype(np.int64)


RETIREMENT = "retirement"
# What a pair shows: the logits of the judge's five relations, how near both are in what they speak of, which part of
# the shorter one's word pieces the other has, and how much less near the older one is than the nearest other.
FEATURES = 8
SURE, MAYBE, NOT = 2, 1, 0
# Below these probabilities of the judge's nothing maybe ends, and nothing surely.
LEAST, ENOUGH = 0.05, 0.85
_FINEST = 1e-6


@dataclass(frozen=True, slots=True)
class Retirement:
    """The weights, and from which probabilities an old statement surely, or maybe, no longer holds."""

    weights: Vectors
    bias: float
    bars: tuple[float, float]

    def shares(self, shown: Vectors) -> list[float]:
        """Return how probably each old statement no longer holds, given what its pair shows (pairs, FEATURES)."""
        found: list[float] = (1 / (1 + np.exp(-(shown @ self.weights + self.bias)))).tolist()
        return found

    def band(self, share: float, alone: float) -> int:
        """Return SURE, MAYBE or NOT of a share, and of what the judge says by itself."""
        sure, maybe = self.bars
        if share >= sure and alone >= ENOUGH:
            return SURE
        return MAYBE if share >= maybe and alone >= LEAST else NOT

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Retirement":
        """Read it as it is written down."""
        sure, maybe = record["bars"]
        return cls(np.array(record["weights"], np.float32), record["bias"], (sure, maybe))


# By which nothing ends.
NOTHING = Retirement(np.zeros(FEATURES, np.float32), 0.0, (1.0, 1.0))


def read_retirement(path: str, judge: str) -> Retirement:
    """Read what was fitted to this judge; by another's nothing ends. Raises OSError, ValueError or KeyError."""
    with open(path, encoding="utf-8") as file:
        said = json.load(file)
    return Retirement.of(said[RETIREMENT]) if said["judge"] == judge else NOTHING


def features(relations: Sequence[Sequence[float]], near: Vectors, shared: Sequence[float]) -> npt.NDArray[np.float32]:
    """Return what the pairs of one statement show (pairs, FEATURES).

    `relations` are the judge's five probabilities of each pair, `near` is how near the older ones are.
    """
    likely = np.clip(np.array(relations, np.float32).reshape(len(relations), -1), _FINEST, 1 - _FINEST)
    logits = np.log(likely / (1 - likely))
    return np.column_stack((logits, near, shared, _behind(near))).astype(np.float32)


def _behind(near: Vectors) -> Vectors:
    """Return how much less near each is than the nearest other, 0 for the nearest."""
    if len(near) == 1:
        return np.zeros_like(near)
    *_, second, first = np.sort(near)
    found: Vectors = np.minimum(0, near - np.where(near == first, second, first))
    return found
