"""Entity edges: memories that name the same thing, weighted by how rarely it is named."""

import math
from collections.abc import Sequence

from memman.model.records import Edge
from memman.model.terms import name as compared
from memman.pipeline.link.subject import Subject
from memman.store.protocols import Reader

# The newest memories linked for one entity, and edges one fact may get in all.
PER_ENTITY = 3
PER_FACT = 4
# The weight of a name that every memory bears.
_LEAST = 0.05


def entity(reader: Reader, subject: Subject) -> list[Edge]:
    """Link each fact to the newest memories that name what it names, and to facts of its own note that do."""
    total = max(reader.count(), 1)
    edges: list[Edge] = []
    named: dict[str, list[int]] = {}
    for place, names in zip(subject.ends, subject.entities, strict=True):
        best: dict[int, Edge] = {}
        for name in _called(reader, names):
            count, memories = reader.mentions(name, PER_ENTITY)
            earlier = named.setdefault(name.casefold(), [])
            weight = rarity(count + len(earlier), total)
            for other in (*memories, *earlier[-PER_ENTITY:]):
                if other not in best or best[other].weight < weight:
                    best[other] = Edge("entity", place, other, weight, name)
            earlier.append(place)
        edges += sorted(best.values(), key=lambda edge: (-edge.weight, -edge.dst))[:PER_FACT]
    return edges


def _called(reader: Reader, names: Sequence[str]) -> list[str]:
    """Return `names`, and what else their things are called in the store."""
    return list(dict.fromkeys((*names, *(other for _, other in reader.aliases(map(compared, names))))))


def rarity(count: int, total: int) -> float:
    """Inverse document frequency of a name in `count` of `total` memories, scaled into [0.05, 1]."""
    if count >= total:
        return _LEAST
    return min(1.0, max(_LEAST, math.log((total + 1) / (count + 0.5)) / math.log(total + 2)))
