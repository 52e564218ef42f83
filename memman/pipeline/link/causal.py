"""Causal edges: what reconcile found to be the reason for what, among candidates of all time."""

from memman.model.records import Edge
from memman.pipeline.link.ends import end
from memman.pipeline.plan import Plan


def causal(plan: Plan) -> list[Edge]:
    """Turn the note's causes into edges from cause to effect."""
    edges = [
        Edge("causal", _place(cause.cause), _place(cause.effect), cause.confidence, cause.kind) for cause in plan.causes
    ]
    return [edge for edge in edges if edge.src != edge.dst]


def _place(side: tuple[str, int]) -> int:
    kind, number = side
    return end(number) if kind == "fact" else number
