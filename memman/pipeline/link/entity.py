"""Entity edges: memories that name the same thing, weighted by how rarely it is named."""

import math
from dataclasses import replace

from memman.model.records import Edge
from memman.pipeline.link.ends import end
from memman.pipeline.plan import Plan, Tools

# The newest memories linked for one entity, and edges one fact may get in all.
PER_ENTITY = 5
PER_FACT = 12


def entity(tools: Tools, plan: Plan) -> Plan:
    """Link each fact to the newest memories that name what it names, and to facts of its own note that do."""
    total = max(tools.reader.count(), 1)
    edges: list[Edge] = []
    named: dict[str, list[int]] = {}
    for n, fact in enumerate(plan.facts):
        best: dict[int, Edge] = {}
        for name in fact.entities:
            count, memories = tools.reader.mentions(name, PER_ENTITY)
            earlier = named.setdefault(name.casefold(), [])
            weight = rarity(count + len(earlier), total)
            for other in (*memories, *earlier):
                if other not in best or best[other].weight < weight:
                    best[other] = Edge("entity", end(n), other, weight, name)
            earlier.append(end(n))
        edges += sorted(best.values(), key=lambda edge: (-edge.weight, -edge.dst))[:PER_FACT]
    return replace(plan, edges=(*plan.edges, *edges))


def rarity(count: int, total: int) -> float:
    """Inverse document frequency of a name in `count` of `total` memories, scaled into [0.05, 1]."""
    return max(0.05, math.log((total + 1) / (count + 0.5)) / math.log(total + 2)) if count < total else 0.05
