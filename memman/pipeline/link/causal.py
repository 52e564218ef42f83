"""Causal edges, and what is newer: what reconcile found to be the reason for what, or maybe changed by it."""

from memman.model.records import Edge
from memman.model.vocabulary import NEWER
from memman.pipeline.link.ends import end
from memman.pipeline.plan import Plan
from memman.store.sqlite.reader import SqliteReader


def causal(reader: SqliteReader, plan: Plan) -> list[Edge]:
    """Turn the note's causes into edges from cause to effect; what was never stored has none."""
    edges = []
    for cause in plan.causes:
        named = (NEWER, "") if cause.kind == NEWER else ("causal", cause.kind)
        for src in _places(reader, cause.cause):
            edges += [
                Edge(named[0], src, dst, cause.confidence, named[1])
                for dst in _places(reader, cause.effect)
                if src != dst
            ]
    return edges


def _places(reader: SqliteReader, side: int | str) -> set[int]:
    return {end(side)} if isinstance(side, int) else reader.located([side])
