"""The judge's forward pass in numpy over int8 weights: the first layers of MiniLM, and a head for each question.

A matrix `name` is stored as int8 levels, and `name.scale` holds what one level of each of its rows is worth. The layers
are unpacked to float32 when loaded; of the table of words only the rows that are looked up.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from memman.embed.base import Vectors
from memman.embed.bert import CLS, EPSILON, SEP, Bert, batches, gelu, load

# After so many layers a pair is left of which the newer statement no more probably than this bears on the older one.
EARLY, UNLIKELY = 2, 0.03
# Layers after which it shows best what a statement holds for: of the six this one tells most.
MANNER = 3
# A newer statement, and the older ones it is compared with.
Group = tuple[Sequence[int], Sequence[Sequence[int]]]
_WORDS = "embeddings.word_embeddings.weight"
_SCALE = ".scale"


class _Rows:
    """A table of int8 rows, unpacked where they are looked up."""

    def __init__(self, levels: npt.NDArray[np.int8], scales: Vectors) -> None:
        self._levels, self._scales, self.shape = levels, scales, levels.shape

    def __getitem__(self, ids: npt.NDArray[np.int64]) -> Vectors:
        found: Vectors = self._levels[ids] * self._scales[ids][..., None]
        return found


class Encoder:
    """Token ids to answers. Raises OSError where the file is missing."""

    def __init__(self, path: str) -> None:
        packed: dict[str, Any] = dict(load(path))
        weights: dict[str, Any] = {}
        for name, array in packed.items():
            scales: Any = packed.get(name + _SCALE)
            if name == _WORDS:
                weights[name] = _Rows(array, scales)
            elif scales is not None:
                weights[name] = array * scales[:, None]
            elif not name.endswith(_SCALE):
                weights[name] = array
        self._weights: dict[str, Vectors] = weights
        self._bert = Bert(weights)

    def pairs(self, groups: Sequence[Group], most: int | None = None) -> list[Vectors]:
        """Return the probability of each relation of a newer statement to its older ones: (older ones, relations) each.

        Where the first layers find it unlikely that the newer bears on the older, or likelier of `most` others, the
        rest is spared: surely apart.
        """
        written, seconds, ends = [], [], [0]
        for new, olds in groups:
            written += [[CLS, *old, SEP, *new, SEP] for old in olds]
            seconds += [len(old) + 2 for old in olds]
            ends.append(len(written))
        found = np.zeros((len(written), self._weights["relate.3.bias"].size), np.float32)
        found[:, 0] = 1
        states: dict[int, Vectors] = {}
        likely = np.zeros(len(written), np.float32)
        for batch in batches([len(row) for row in written]):
            embedded = self._bert.embedded([written[n] for n in batch], [seconds[n] for n in batch])
            states |= zip(batch, self._bert.layered(embedded, 0, EARLY), strict=True)
            both = _both([states[n] for n in batch], [seconds[n] for n in batch])
            likely[batch] = _sigmoid(self._two_layers(both, "early", "2")[:, 0])
        left = []
        for first, last in pairwise(ends):
            best = sorted(range(first, last), key=lambda n: -likely[n])[:most]
            left += [n for n in best if likely[n] >= UNLIKELY]
        for batch in batches([len(written[n]) for n in left]):
            some = [left[k] for k in batch]
            layered = self._bert.layered([states.pop(n) for n in some], EARLY, self._bert.layers)
            both = _both(layered, [seconds[n] for n in some])
            found[some] = _shares(self._two_layers(both, "relate", "3"))
        return [found[first:last] for first, last in pairwise(ends)]

    def texts(self, rows: Sequence[Sequence[int]]) -> Iterator[tuple[Vectors, Vectors, Vectors, Vectors]]:
        """Yield for each row what each token is worth (tokens,), its kinds (tokens, kinds), and two vectors.

        These are the mean of its last states, as `means` returns it, and how it is said, as `early` does.
        """
        for early, states in self._states(rows):
            x = states[1:-1]
            worth, kinds = _sigmoid(self._dense(x, "keep")[:, 0]), _shares(self._dense(x, "kind"))
            yield worth, kinds, states.mean(0), early

    def means(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Return the means of the last states: (rows, width)."""
        return np.array([states.mean(0) for _, states in self._states(rows)])

    def about(self, means: Vectors) -> Vectors:
        """Return unit vectors of what statements speak of, from the means of their states: (rows, elements)."""
        found = self._dense(means, "about")
        found /= np.maximum(np.linalg.norm(found, axis=1, keepdims=True), EPSILON)
        return found

    def early(self, rows: Sequence[Sequence[int]]) -> Vectors:
        """Return unit vectors of the mean states after MANNER layers: (rows, width)."""
        written = [[CLS, *row, SEP] for row in rows]
        found = np.zeros((len(written), self._weights["about.weight"].shape[1]), np.float32)
        for batch in batches([len(row) for row in written]):
            embedded = self._bert.embedded([written[n] for n in batch])
            for n, states in zip(batch, self._bert.layered(embedded, 0, MANNER), strict=True):
                found[n] = _unit(states.mean(0))
        return found

    def _states(self, rows: Sequence[Sequence[int]]) -> Iterator[tuple[Vectors, Vectors]]:
        """Yield for each row the early vector, and the last states."""
        written = [[CLS, *row, SEP] for row in rows]
        for batch in batches([len(row) for row in written]):
            embedded = self._bert.embedded([written[n] for n in batch])
            early = self._bert.layered(embedded, 0, MANNER)
            last = self._bert.layered(early, MANNER, self._bert.layers)
            yield from ((_unit(one.mean(0)), states) for one, states in zip(early, last, strict=True))

    def _two_layers(self, x: Vectors, head: str, second: str) -> Vectors:
        return self._dense(gelu(self._dense(x, f"{head}.0")), f"{head}.{second}")

    def _dense(self, x: Vectors, name: str) -> Vectors:
        found: Vectors = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found


def _both(states: Sequence[Vectors], seconds: Sequence[int]) -> Vectors:
    """Put the first state of each row and the means of its two texts side by side: (rows, 4 * width)."""
    means = ((x[0], x[:at].mean(0), x[at:].mean(0)) for x, at in zip(states, seconds, strict=True))
    return np.array([np.concatenate([first, one, two, np.abs(one - two)]) for first, one, two in means])


def _unit(vector: Vectors) -> Vectors:
    found: Vectors = vector / np.maximum(np.linalg.norm(vector), EPSILON)
    return found


def _sigmoid(logits: Vectors) -> Vectors:
    found: Any = 1 / (1 + np.exp(-logits))
    return found  # type: ignore[no-any-return]


def _shares(logits: Vectors) -> Vectors:
    """Turn logits into probabilities, along the last axis."""
    shares = np.exp(logits - logits.max(-1, keepdims=True))
    found: Vectors = shares / shares.sum(-1, keepdims=True)
    return found
