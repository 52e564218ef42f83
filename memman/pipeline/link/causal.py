"""Causal edges: what reconcile found to be the reason for what, among candidates of all time."""

from memman.model.records import Edge
from memman.pipeline.link.ends import end
from memman.pipeline.plan import Plan
from memman.store.sqlite.reader import SqliteReader


def causal(reader: SqliteReader, plan: Plan) -> list[Edge]:
    """Turn the note's causes into edges from cause to effect; what was never stored has none."""
    edges = []
    for cause in plan.causes:
        for src in _places(reader, cause.cause):
            edges += [
                Edge("causal", src, dst, cause.confidence, cause.kind)
                for dst in _places(reader, cause.effect)
                if src != dst
            ]
    return edges


def _places(reader: SqliteReader, side: int | str) -> set[int]:
    return {end(side)} if isinstance(side, int) else reader.located([side])
