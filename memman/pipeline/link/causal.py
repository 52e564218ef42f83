"""Causal edges: what reconcile found to be the reason for what, among candidates of all time."""

from dataclasses import replace

from memman.model.records import Edge
from memman.pipeline.link.ends import end
from memman.pipeline.plan import Plan, Tools


def causal(tools: Tools, plan: Plan) -> Plan:  # noqa: ARG001 - every linker has one shape
    """Turn the note's causes into edges from cause to effect."""
    edges = [
        Edge("causal", _place(cause.cause), _place(cause.effect), cause.confidence, cause.kind) for cause in plan.causes
    ]
    return replace(plan, edges=(*plan.edges, *edges))


def _place(side: tuple[str, int]) -> int:
    kind, number = side
    return end(number) if kind == "fact" else number
