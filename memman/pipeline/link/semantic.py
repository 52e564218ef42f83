"""Semantic edges: what is alike by the judge's vectors, or else by meaning above what is usual in this store."""

from memman.embed import Vectors
from memman.embed.codes import cosines as whole
from memman.model.records import Edge, Fingerprint
from memman.pipeline.candidates import nearest
from memman.pipeline.cosine_stats import CosineStats
from memman.pipeline.judged import EVERYTHING
from memman.pipeline.link.subject import Subject
from memman.store.sqlite.reader import SqliteReader

TOP = 3
_POOL = 12
# How near the judge's vectors must be. Of pairs of known notes that say the same or otherwise all but one are
# nearer, of other pairs one in fourteen (29 and 213 pairs).
ALIKE = 0.5
# Random pairs measured for each new memory, to learn the embedder's distribution in this store.
SAMPLES = 6
# An edge must stand this many standard deviations above the mean of random pairs. Of 80 edges of project sentences and
# docstrings read by hand, about three in four above 3 made sense, and fewer than half of those between 2.5 and 3.
SIGMAS = 3.0
# 2^32 over the golden ratio: its multiples fall evenly over the store, however large (Knuth 6.4), the same each time.
_GOLDEN = 2_654_435_769


def semantic(reader: SqliteReader, subject: Subject) -> list[Edge]:
    """Link each fact to at most TOP memories that bear on it, as the judge finds, or else whose cosine stands out."""
    stats = CosineStats.of(reader, subject.fingerprint)
    edges: list[Edge] = []
    for n, place in enumerate(subject.ends):
        if subject.judged and subject.judged.vectors[n].any():
            cosines, least = _bearing(reader, subject.judged.fingerprint, subject.judged.vectors[n]), ALIKE
        elif stats.known:
            near = reader.filtered(nearest(reader, subject.fingerprint, subject.vectors[n], _POOL), EVERYTHING)
            cosines, least = subject.cosines(reader, n, near), stats.above(SIGMAS)
        else:
            continue
        best = sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))[:TOP]
        edges += [Edge("semantic", place, memory, min(cosine, 1.0)) for memory, cosine in best if cosine >= least]
    return edges


def _bearing(reader: SqliteReader, fingerprint: Fingerprint, vector: Vectors) -> dict[int, float]:
    """Return how nearly memories speak of the same, for those nearest to a vector of the judge."""
    near = reader.filtered(nearest(reader, fingerprint, vector, _POOL), EVERYTHING)
    number = reader.embedder_id(fingerprint)
    return {} if number is None else whole(vector, reader.planes(number, near))


def sampled(reader: SqliteReader, subject: Subject) -> list[float]:
    """Return the cosines between each fact and SAMPLES memories from all over the store."""
    total = reader.count()
    samples: list[float] = []
    for n in range(len(subject.vectors) if total else 0):
        samples += subject.cosines(reader, n, _spread_out(total, (total + n) * SAMPLES)).values()
    return samples


def _spread_out(total: int, first: int) -> list[int]:
    """Return up to SAMPLES row ids from all over a store of `total` rows: terms of one sequence from `first` on."""
    return sorted({1 + ((k * _GOLDEN & 0xFFFFFFFF) * total >> 32) for k in range(first, first + SAMPLES)})
