"""Edges from a note's facts to what is stored: a file an edge kind, in the order of LINKERS."""

from dataclasses import replace

from memman.pipeline.link.causal import causal
from memman.pipeline.link.entity import entity
from memman.pipeline.link.semantic import semantic
from memman.pipeline.link.temporal import temporal
from memman.pipeline.plan import Plan, Tools

LINKERS = (temporal, entity, causal, semantic)


async def link(tools: Tools, plan: Plan) -> Plan:  # noqa: RUF029 - every stage has one shape
    """Work out the edges of every kind. Each linker reads a bounded number of rows, whatever the store's size."""
    for linker in LINKERS:
        plan = linker(tools, plan)
    return replace(plan, edges=tuple(edge for edge in plan.edges if edge.src != edge.dst))

