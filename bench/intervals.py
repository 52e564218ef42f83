"""Whether a difference is more than chance: paired bootstrap intervals (Efron and Tibshirani 1993)."""

from collections.abc import Sequence

import numpy as np

RESAMPLES = 2_000
_SEED = 20_240_501


def paired(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean of `one - other`, and the bounds that 95 % of the resamples of the questions keep within."""
    differences = np.asarray(one, float) - np.asarray(other, float)
    chance = np.random.default_rng(_SEED)
    drawn = chance.integers(0, len(differences), (RESAMPLES, len(differences)))
    low, high = np.percentile(differences[drawn].mean(axis=1), (2.5, 97.5))
    return float(differences.mean()), float(low), float(high)


def auc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Return how often a value of `positive` exceeds one of `negative`, ties counted half."""
    ordered = np.sort(np.asarray(negative, float))
    values = np.asarray(positive, float)
    below, upto = np.searchsorted(ordered, values, "left"), np.searchsorted(ordered, values, "right")
    return float((below + upto).mean() / 2 / len(ordered))
