"""Whether a new statement ends an old one: few weights on what the judge says of the pair and how near the two are.

The judge was taught by pairs about one thing. In a store most statements that share a word are about different ones,
and of these it takes too many for changes. tools/train_judge/retirement.py fits this to statements as they come, and
writes it into heads.json (docs/adr/0048-retirement.md).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from memman.embed.base import Vectors

RETIREMENT = "retirement"
# What a pair shows: the logits of the judge's five relations, how near both are in what they speak of, and which part
# of the shorter one's word pieces the other has.
FEATURES = 7
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

    def record(self) -> dict[str, Any]:
        """Return it as it is written down."""
        return {"weights": [round(float(one), 4) for one in self.weights], "bias": self.bias, "bars": list(self.bars)}

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> "Retirement":
        """Read what `record` wrote."""
        sure, maybe = record["bars"]
        return cls(np.array(record["weights"], np.float32), record["bias"], (sure, maybe))


# By which nothing ends.
NOTHING = Retirement(np.zeros(FEATURES, np.float32), 0.0, (1.0, 1.0))


def read(path: str, judge: str) -> Retirement:
    """Read what was fitted to this judge; by another's nothing ends. Raises OSError, ValueError or KeyError."""
    with open(path, encoding="utf-8") as file:
        said = json.load(file)
    return Retirement.of(said[RETIREMENT]) if said["judge"] == judge else NOTHING


def features(
    relations: Sequence[Sequence[float]], nearness: Sequence[float], shared: Sequence[float]
) -> npt.NDArray[np.float32]:
    """Return what each pair shows (pairs, FEATURES): `relations` are the judge's five probabilities of each."""
    likely = np.clip(np.array(relations, np.float32).reshape(len(relations), -1), _FINEST, 1 - _FINEST)
    logits = np.log(likely / (1 - likely))
    return np.column_stack((logits, nearness, shared)).astype(np.float32)
