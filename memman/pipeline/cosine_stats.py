"""The distribution of cosines between unrelated memories of one store and embedder: where thresholds come from."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass

from memman.model.records import Fingerprint
from memman.model.vocabulary import ENOUGH, spread_key
from memman.store.sqlite.reader import SqliteReader

# Hardly anything but the same text again is nearer than this, whatever the embedder.
_MOST = 0.95


@dataclass(frozen=True, slots=True)
class CosineStats:
    """Count, mean and variance sum of sampled cosines (Welford 1962)."""

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    @classmethod
    def of(cls, reader: SqliteReader, fingerprint: Fingerprint) -> "CosineStats":
        """Read what the store has learned about `fingerprint`."""
        saved = reader.meta(key(fingerprint))
        return cls(*json.loads(saved)) if saved else cls()

    @property
    def known(self) -> bool:
        """Whether enough was seen to tell what is unusual."""
        return self.count >= ENOUGH

    def with_samples(self, samples: Iterable[float]) -> "CosineStats":
        """Take in further cosines."""
        count, mean, squares = self.count, self.mean, self.squares
        for sample in samples:
            count += 1
            step = sample - mean
            mean += step / count
            squares += step * (sample - mean)
        return CosineStats(count, round(mean, 6), round(squares, 6))

    def above(self, sigmas: float) -> float:
        """Return the cosine `sigmas` standard deviations above the mean. Only for a spread that is known."""
        return min(_MOST, self.mean + sigmas * math.sqrt(self.squares / self.count))


def key(fingerprint: Fingerprint) -> str:
    """Name the store setting that holds the spread of `fingerprint`."""
    return spread_key(fingerprint.provider, fingerprint.model, fingerprint.dimension)
