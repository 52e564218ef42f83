"""Semantic edges: the nearest memories by meaning, above what this store's own vectors call unusual."""

from dataclasses import replace

from memman.embed.codes import int8
from memman.model.records import Edge
from memman.pipeline.candidates import EVERYTHING, nearest
from memman.pipeline.link.ends import end
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.spread import Spread

TOP = 3
_POOL = 12
# Random pairs measured for each new memory, to learn the embedder's distribution in this store.
SAMPLES = 6
# An edge must stand this many standard deviations above the mean of random pairs.
SIGMAS = 2.5
# A multiplier coprime to most ranges: spreads the sampled pairs over the whole store, the same way each time.
_STRIDE = 7_919


def semantic(tools: Tools, plan: Plan) -> Plan:
    """Link each fact to at most TOP memories whose cosine stands out, and note some random cosines."""
    reader, fingerprint = tools.reader, tools.embedder.fingerprint
    number = reader.embedder_id(fingerprint)
    if number is None or plan.vectors is None:
        return plan
    least = Spread.of(reader, fingerprint).above(SIGMAS)
    total = reader.count()
    edges: list[Edge] = []
    samples: list[float] = []
    for n, vector in enumerate(plan.vectors):
        if not vector.any():
            continue
        packed = int8(vector)
        near = reader.filtered(nearest(tools, fingerprint, vector, _POOL), EVERYTHING)
        cosines = reader.cosines(number, packed, near)
        best = sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0]))[:TOP]
        edges += [Edge("semantic", end(n), memory, cosine) for memory, cosine in best if cosine >= least]
        some = {1 + (total * _STRIDE + n + k * _STRIDE) % total for k in range(SAMPLES)} if total else set()
        samples += reader.cosines(number, packed, sorted(some)).values()
    return replace(plan, edges=(*plan.edges, *edges), samples=tuple(samples))
