"""Link a note's facts to stored memories, one module per kind of edge."""

from collections.abc import Callable
from dataclasses import replace

from memman.model.records import Edge, Fingerprint
from memman.pipeline.embed import made_by
from memman.pipeline.judged import fingerprint as judged_by
from memman.pipeline.link.causal import causal
from memman.pipeline.link.ends import end
from memman.pipeline.link.entity import entity
from memman.pipeline.link.semantic import sampled, semantic
from memman.pipeline.link.subject import Judged, Subject
from memman.pipeline.link.temporal import temporal
from memman.pipeline.plan import Plan, Tools
from memman.store.sqlite.reader import SqliteReader

__all__ = ["LINKERS", "Judged", "Subject", "connected", "link", "linker"]

# Counted up with every change to what is linked, so that `graph rebuild --stale-only` finds what was linked before it.
_RULES = 2

# The kinds that follow from what is stored, so that they can be worked out again at any time.
LINKERS: dict[str, Callable[[SqliteReader, Subject], list[Edge]]] = {
    "temporal": temporal,
    "entity": entity,
    "semantic": semantic,
}


async def link(tools: Tools, plan: Plan) -> Plan:
    """Work out the edges of every kind, and note some random cosines to learn from."""
    if not plan.facts or plan.vectors is None:
        return plan
    texts = tuple(fact.text for fact in plan.facts)
    subject = Subject(
        origin=plan.note.provenance.origin,
        at=plan.note.queued_at,
        ends=tuple(end(n) for n in range(len(plan.facts))),
        texts=texts,
        entities=tuple(fact.entities for fact in plan.facts),
        fingerprint=made_by(tools.embedder, plan.vectors),
        vectors=plan.vectors,
        local=tools.local if tools.embedder is tools.local else None,
        judged=Judged(judged_by(tools.judge), tools.judge.about(texts)) if tools.judge else None,
    )
    made = subject.judged.fingerprint if subject.judged else subject.fingerprint
    edges = (*connected(tools.reader, subject), *causal(tools.reader, plan))
    return replace(plan, edges=edges, linker=linker(made), samples=tuple(sampled(tools.reader, subject)))


def linker(fingerprint: Fingerprint) -> str:
    """Name what makes edges by today's rules, and the vectors that it finds what is alike by."""
    return f"{_RULES} {fingerprint}"


def connected(reader: SqliteReader, subject: Subject) -> list[Edge]:
    """Return the edges of every kind in LINKERS. Reads a bounded number of rows, whatever the store's size."""
    edges = [edge for linker in LINKERS.values() for edge in linker(reader, subject)]
    return [edge for edge in edges if edge.src != edge.dst]
