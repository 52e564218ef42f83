"""How good rankings are: recall, reciprocal rank and gain, by category and together."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.dataset import ADVERSARIAL, Key, Query

# A ranking's depth; nothing below it counts.
DEPTH = 50
# All questions but the adversarial ones, and all.
OVERALL, EVERY = "overall", "all"


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one question brought up: documents, best first, and how long that took."""

    query: Query
    found: tuple[Key, ...]
    ms: float = 0.0


def recall(ranking: Ranking, k: int) -> float:
    """Return the share of the gold among the first `k`."""
    return len(ranking.query.gold & set(ranking.found[:k])) / len(ranking.query.gold)


def reciprocal(ranking: Ranking) -> float:
    """Return one over the rank of the first gold, 0 when none is there."""
    return next((1 / rank for rank, key in enumerate(ranking.found, 1) if key in ranking.query.gold), 0.0)


def gain(ranking: Ranking, k: int) -> float:
    """Return nDCG with gains of 0 and 1."""
    got = sum(1 / math.log2(n + 2) for n, key in enumerate(ranking.found[:k]) if key in ranking.query.gold)
    return got / sum(1 / math.log2(n + 2) for n in range(min(k, len(ranking.query.gold))))


METRICS: Mapping[str, Callable[[Ranking], float]] = {
    "R@5": lambda ranking: recall(ranking, 5),
    "R@10": lambda ranking: recall(ranking, 10),
    "R@20": lambda ranking: recall(ranking, 20),
    "any@5": lambda ranking: float(recall(ranking, 5) > 0),
    "all@5": lambda ranking: float(recall(ranking, 5) == 1),
    "MRR": reciprocal,
    "nDCG@10": lambda ranking: gain(ranking, 10),
}


def judged(rankings: Sequence[Ranking]) -> dict[str, dict[str, float]]:
    """Return every metric and n: overall without the adversarial questions, with them, and by category."""
    groups = {OVERALL: plain(rankings), EVERY: list(rankings)}
    for category in sorted({ranking.query.category for ranking in rankings}):
        groups[category] = [ranking for ranking in rankings if ranking.query.category == category]
    return {name: _means(some) for name, some in groups.items() if some}


def plain(rankings: Sequence[Ranking]) -> list[Ranking]:
    """Leave out the adversarial questions."""
    return [ranking for ranking in rankings if ranking.query.category != ADVERSARIAL]


def rolled_up(rankings: Sequence[Ranking], sessions: Mapping[Key, str]) -> list[Ranking]:
    """Rank sessions instead: each stands where the best of its documents does, and is gold if one of them is."""

    def of(keys: Sequence[Key] | frozenset[Key]) -> list[Key]:
        return [(key[0], sessions.get(key) or key[1]) for key in keys]

    return [
        Ranking(
            Query(r.query.text, r.query.scope, frozenset(of(r.query.gold)), r.query.category),
            tuple(dict.fromkeys(of(r.found))),
            r.ms,
        )
        for r in rankings
    ]


def middle_ms(rankings: Sequence[Ranking]) -> float:
    """Return the median time of a question in milliseconds."""
    return statistics.median(ranking.ms for ranking in rankings)


def _means(rankings: Sequence[Ranking]) -> dict[str, float]:
    means = {name: statistics.fmean(map(metric, rankings)) for name, metric in METRICS.items()}
    return {name: round(mean, 4) for name, mean in means.items()} | {"n": len(rankings)}
