"""The student: one vector a token, a sentence is their sum. Start, refinement and 4-bit rounding.

Refinement pulls each sum towards the teacher's vector of the same sentence (cosine), and the similarities
within a batch towards the teacher's similarities (Kullback-Leibler), by Adam with sparse rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]
Nibbles = npt.NDArray[np.uint8]

# Smooth inverse frequency: a token weighs a / (a + p). p is the mean of its share of the corpus and of what
# Zipf's law says of its rank in the vocabulary: the one knows the words of code, the other those of people.
SIF = 3e-4
ZIPF_OFFSET = 2.7
# How much of what all single tokens have in common is taken off first. With none off, unrelated texts have
# cosines of 0.5 to 0.7, and the top 100 by sign code miss 8 to 14 % of the true top 10 (3 to 5 % with this
# much off); with all of it off, short chat lines lose 2 points of R@10.
COMMON = 0.7
SEED = 20_261_121
EPOCHS, BATCH = 3, 512
# Step relative to a typical row's length; falls to zero along a cosine.
RATE = 0.02
# Of the similarities within a batch; and their weight beside the cosine.
TEMPERATURE, KL_WEIGHT = 0.05, 1.0
# Adam's usual constants.
DECAY_FIRST, DECAY_SECOND, EPSILON = 0.9, 0.999, 1e-8
# Fractions of a row's largest magnitude tried as the outermost of the 16 levels.
CLIPS = np.linspace(0.55, 1.0, 19)
LEVELS = 15


@dataclass(frozen=True)
class Bags:
    """Sentences as token rows: `ids` joined end to end, sentence i starting at `starts[i]`."""

    ids: Ids
    starts: Ids

    @classmethod
    def of(cls, rows: Sequence[Sequence[int]]) -> "Bags":
        """Join `rows`, none of which may be empty."""
        lengths = [len(row) for row in rows]
        ids = np.fromiter((token for row in rows for token in row), np.int64)
        return cls(ids, np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.int64))

    def pick(self, chosen: Ids) -> "Bags":
        """Take the bags of the chosen sentences."""
        ends = np.append(self.starts, len(self.ids))
        return Bags.of([self.ids[ends[i] : ends[i + 1]] for i in chosen])


def start(vectors: Array, ranks: Ids, bags: Bags) -> Array:
    """Weigh the teacher's vectors of single tokens, (tokens, n), by smooth inverse frequency, COMMON off.

    Ranks count from 0; a token with a negative rank has none and goes by the corpus alone.
    """
    zipf = np.where(ranks < 0, 0, 1 / (np.maximum(ranks, 0) + ZIPF_OFFSET))
    seen = np.bincount(bags.ids, minlength=len(vectors)) + 1
    chance = (zipf / zipf.sum() + seen / seen.sum()) / 2
    vectors = vectors - np.float32(COMMON) * vectors.mean(axis=0)
    return (vectors * (SIF / (SIF + chance))[:, None]).astype(np.float32)


def refine(table: Array, bags: Bags, goal: Array, report: Callable[[int, float], None]) -> Array:
    """Fit `table` so that the sum of a bag points where `goal` (sentences, n; unit rows) does."""
    draw = np.random.default_rng(SEED)
    adam = _Adam(table.copy(), EPOCHS * (len(goal) // BATCH))
    for epoch in range(EPOCHS):
        order = draw.permutation(len(goal))
        fit = []
        for low in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[low : low + BATCH]
            rows, slope, cosine = _slope(adam.table, bags.pick(chosen), goal[chosen])
            adam.step(rows, slope)
            fit.append(cosine)
        report(epoch, float(np.mean(fit)))
    return adam.table


class _Adam:
    """Adam on the touched rows only, over a known number of steps."""

    def __init__(self, table: Array, steps: int) -> None:
        self.table = table
        self._first, self._second = np.zeros_like(table), np.zeros_like(table)
        self._rate = RATE * float(np.linalg.norm(table, axis=1).mean()) / table.shape[1] ** 0.5
        self._step, self._steps = 0, steps

    def step(self, rows: Ids, slope: Array) -> None:
        """Move `rows` against `slope`."""
        self._step += 1
        first = DECAY_FIRST * self._first[rows] + (1 - DECAY_FIRST) * slope
        second = DECAY_SECOND * self._second[rows] + (1 - DECAY_SECOND) * slope**2
        self._first[rows], self._second[rows] = first, second
        pace = self._rate * (0.5 + 0.5 * np.cos(np.pi * self._step / self._steps))
        pace *= np.sqrt(1 - DECAY_SECOND**self._step) / (1 - DECAY_FIRST**self._step)
        self.table[rows] -= (pace * first / (np.sqrt(second) + EPSILON)).astype(np.float32)


def _slope(table: Array, bags: Bags, goal: Array) -> tuple[Ids, Array, float]:
    """Find the token rows touched, the loss's slope there, and the mean cosine to the teacher."""
    sums = np.add.reduceat(table[bags.ids], bags.starts)
    norms = np.linalg.norm(sums, axis=1, keepdims=True) + EPSILON
    unit = sums / norms
    pull = (_softmax(unit @ unit.T) - _softmax(goal @ goal.T)) * (KL_WEIGHT / TEMPERATURE)
    slope = (pull + pull.T) @ unit - goal
    slope = (slope - (slope * unit).sum(axis=1, keepdims=True) * unit) / norms
    lengths = np.diff(np.append(bags.starts, len(bags.ids)))
    rows, place = np.unique(bags.ids, return_inverse=True)
    order = np.argsort(place, kind="stable")
    firsts = np.searchsorted(place[order], np.arange(len(rows)))
    total = np.add.reduceat(np.repeat(slope, lengths, axis=0)[order], firsts)
    return rows, total, float((unit * goal).sum(axis=1).mean())


def _softmax(similarity: Array) -> Array:
    """Row-wise softmax of the similarities to the other sentences of the batch."""
    logits = similarity / TEMPERATURE
    np.fill_diagonal(logits, -np.inf)
    chances = np.exp(logits - logits.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


def quantise(table: Array, largest_scale: int) -> tuple[Ids, Nibbles]:
    """Round rows to `scale * (2 * nibble - 15)`: scales (tokens,) and nibbles (tokens, n), both integers.

    Of each row's clipping points the one with the least squared error wins. One unit is chosen for the
    whole table, so that its largest scale is `largest_scale`.
    """
    tops = np.abs(table).max(axis=1, keepdims=True)
    best = np.full(len(table), np.inf)
    scales = np.zeros(len(table))
    for clip in CLIPS:
        scale = tops * clip / LEVELS
        error = np.square(table - scale * (2 * _nibbles(table, scale) - LEVELS)).sum(axis=1)
        better = error < best
        best[better] = error[better]
        scales[better] = scale[better, 0]
    unit = scales.max() / largest_scale
    whole = np.maximum(np.rint(scales / unit), 1).astype(np.int64)
    return whole, _nibbles(table, (whole * unit)[:, None]).astype(np.uint8)


def _nibbles(table: Array, scale: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.clip(np.rint((table / scale + LEVELS) / 2), 0, LEVELS)
