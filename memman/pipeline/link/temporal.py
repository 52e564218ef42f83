"""Temporal edges: the backbone through each origin, and nearness in time across origins."""

from dataclasses import replace

from memman.model.records import Edge
from memman.pipeline.link.ends import end
from memman.pipeline.plan import Plan, Tools

# Parameters of the existing memman 0.15.3: at most five memories of the last four hours, none below 0.1.
NEAR = 5
WINDOW_MS = 4 * 3_600_000
LEAST = 0.1
_HOUR_MS = 3_600_000


def temporal(tools: Tools, plan: Plan) -> Plan:
    """Link each fact to the one before it in its origin, and to what was recorded shortly before."""
    now = plan.note.queued_at
    last = tools.reader.last_of(plan.note.provenance.origin)
    chain = ([last] if last is not None else []) + [end(n) for n in range(len(plan.facts))]
    backbone = [Edge("temporal", a, b, 1.0, "next") for a, b in zip(chain, chain[1:], strict=False)]
    near = []
    if plan.facts:
        for memory, at in tools.reader.recent(now - WINDOW_MS, NEAR):
            weight = 1 / (1 + abs(now - at) / _HOUR_MS)
            if memory != last and weight >= LEAST:
                near.append(Edge("temporal", memory, end(0), min(weight, 0.99), "near"))
    return replace(plan, edges=(*plan.edges, *backbone, *near))
