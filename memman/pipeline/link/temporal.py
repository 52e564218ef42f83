"""Temporal edges: the backbone through each origin, and nearness in time across origins."""

from itertools import pairwise

from memman.model.records import Edge
from memman.pipeline.link.subject import Subject
from memman.store.sqlite.reader import SqliteReader

# Parameters of the existing memman 0.15.3, memories of the last four hours, none below 0.1, but three instead of five.
NEAR = 3
WINDOW_MS = 4 * 3_600_000
LEAST = 0.1
# Nearness alone never weighs as much as the backbone.
_MOST = 0.99
_HOUR_MS = 3_600_000


def temporal(reader: SqliteReader, subject: Subject) -> list[Edge]:
    """Link each fact to the one before it in its origin, and the first to what came shortly before anywhere."""
    last = reader.last_of(subject.origin)
    chain = [last, *subject.ends] if last is not None else list(subject.ends)
    backbone = [Edge("temporal", a, b, 1.0, "next") for a, b in pairwise(chain)]
    near = []
    for memory, at in reader.recent(subject.at - WINDOW_MS, NEAR):
        weight = 1 / (1 + abs(subject.at - at) / _HOUR_MS)
        if memory != last and weight >= LEAST:
            near.append(Edge("temporal", memory, subject.ends[0], min(weight, _MOST), "near"))
    return backbone + near
