"""Logistic regressions on the judge's early vectors, fitted by tools/train_judge/heads.py into heads.json."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
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

    def record(self) -> dict[str, Any]:
        """Return the chain as it is written down."""
        return asdict(self)

    @classmethod
    def of(cls, record: dict[str, Any]) -> "Chain":
        """Read what `record` wrote."""
        return cls(record["any"], record["first"], tuple((own, theirs) for own, theirs in record["behind"]))

    @classmethod
    def counted(cls, messages: Iterable[tuple[Sequence[bool], Gaps]]) -> "Chain":
        """Count it in messages: whether each passage is somebody else's, and the gaps between them."""
        every: list[bool] = []
        first: list[bool] = []
        behind: dict[tuple[int, bool], list[bool]] = {(gap, before): [] for gap in GAPS for before in (False, True)}
        for theirs, gaps in messages:
            every += theirs
            first.append(theirs[0])
            for before, now, gap in zip(theirs, theirs[1:], gaps, strict=False):
                behind[gap, before].append(now)
        rows = tuple((_share(behind[gap, False]), _share(behind[gap, True])) for gap in GAPS)
        return cls(_share(every), _share(first), rows)


def gaps(text: str, passages: Sequence[tuple[int, int]]) -> list[int]:
    """Return what lies between the passages of a message."""
    return [min(text.count("\n", end, start), GAPS[-1]) for (_, end), (start, _) in pairwise(passages)]


def _scaled(pair: Array) -> Array:
    found: Array = pair / pair.sum()
    return found


def _share(answers: Sequence[bool]) -> float:
    """Return the share of a yes, by Laplace's rule of succession."""
    return round((sum(answers) + 1) / (len(answers) + 2), 4)


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

    def record(self) -> dict[str, Any]:
        """Return the head as it is written down: the weights of runs of letters as int8."""
        grain = float(np.abs(self.letters).max() / 127)
        levels = np.round(self.letters / (grain or 1)).astype(np.int8) if grain else np.zeros(0, np.int8)
        return {
            "bars": dict(self.bars),
            "bias": round(self.bias, 4),
            "chain": self.chain and self.chain.record(),
            "grain": grain,
            "vectors": b64encode(self.vectors.astype("<f2").tobytes()).decode(),
            "letters": b64encode(levels.tobytes()).decode(),
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Head":
        """Read what `record` wrote."""
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
