"""The distribution of cosines between unrelated memories of one store: where every threshold comes from."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass

from memman.model.records import Fingerprint
from memman.store.protocols import Reader

# What the shipped table was measured to give on random pairs of facts; a store's own pairs take over from here.
# Any other embedder starts with nothing and links nothing until it has been seen at work.
_MEASURED = {"builtin": (32.0, 0.15, 0.11)}
_ENOUGH = 24.0
_NEVER = 2.0


@dataclass(frozen=True, slots=True)
class Spread:
    """Count, mean and variance sum of sampled cosines (Welford 1962)."""

    count: float = 0.0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, reader: Reader, fingerprint: Fingerprint) -> "Spread":
        """Read what the store has learned about `fingerprint`."""
        saved = reader.meta(key(fingerprint))
        if saved:
            return cls(*json.loads(saved))
        count, mean, deviation = _MEASURED.get(fingerprint.provider, (0.0, 0.0, 0.0))
        return cls(count, mean, count * deviation**2)

    def with_samples(self, samples: Iterable[float]) -> "Spread":
        """Take in further cosines."""
        count, mean, squares = self.count, self.mean, self.squares
        for sample in samples:
            count += 1
            step = sample - mean
            mean += step / count
            squares += step * (sample - mean)
        return Spread(count, round(mean, 6), round(squares, 6))

    def above(self, sigmas: float) -> float:
        """Return the cosine `sigmas` deviations above the mean; one nothing reaches while too little is known."""
        if self.count < _ENOUGH:
            return _NEVER
        return min(0.95, self.mean + sigmas * math.sqrt(self.squares / self.count))


def key(fingerprint: Fingerprint) -> str:
    """Name the store setting that holds the spread of `fingerprint`."""
    return f"spread:{fingerprint}"
