"""Whose each passage of a message is, given whose those around it are: who pastes, pastes more than one sentence.

A hidden Markov chain of two states, read by the forward-backward algorithm (Rabiner, A Tutorial on Hidden Markov
Models, 1989).
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

# What lies between two passages: nothing, a line's end, an empty line.
GAPS = range(3)
# How much a passage's own share counts: neighbours have been read for it already.
_OWN = 0.7
_LEAST = 1e-6
Gaps = Sequence[int]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chain:
    """How often a passage is somebody else's: any, the first of a message, and by gap behind an own and another's."""

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
