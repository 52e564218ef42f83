"""Entity edges: memories that name the same thing, weighted by how rarely it is named."""

import math
from collections.abc import Iterator, Sequence

from memman.llm.builtin.entities import Kind, names, shaped
from memman.model.names import mentions
from memman.model.records import Edge
from memman.model.terms import name as compared
from memman.pipeline.link.subject import Subject
from memman.store.sqlite.reader import SqliteReader

# The newest memories linked for one entity, and edges one fact may get in all.
PER_ENTITY = 3
PER_FACT = 6
# Tokens of one text that are looked up.
MOST = 24
# The weight of a name that every memory bears.
_LEAST = 0.05
# What is only maybe a name is one where so few memories mention it, or this share of the store; and weighs so much.
_FEW, _SHARE, _MAYBE = 3, 0.05, 0.7


def entity(reader: SqliteReader, subject: Subject) -> list[Edge]:
    """Link each fact to the newest memories that name what it names, and to facts of its own note that do."""
    total = max(reader.count(), 1)
    edges: list[Edge] = []
    for n, place in enumerate(subject.ends):
        best: dict[int, Edge] = {}
        for name, sure in _called(subject.entities[n], subject.texts[n]):
            count, memories = reader.mentions(name, PER_ENTITY)
            earlier = [subject.ends[k] for k in range(n) if _mentions(subject, k, name)]
            if not sure and count + len(earlier) > max(_FEW, _SHARE * total):
                continue
            weight = rarity(count + len(earlier), total) * (1 if sure else _MAYBE)
            for other in (*memories, *earlier[-PER_ENTITY:]):
                if other not in best or best[other].weight < weight:
                    best[other] = Edge("entity", place, other, weight, name)
        edges += sorted(best.values(), key=lambda edge: (-edge.weight, -edge.dst))[:PER_FACT]
    return edges


def _mentions(subject: Subject, n: int, name: str) -> bool:
    return any(mentions(text, name) for text in (subject.texts[n], *subject.entities[n]))


def _called(entities: Sequence[str], text: str) -> Iterator[tuple[str, bool]]:
    """Yield the names of a fact, each with whether it is sure: what it is said to name, and what its text does."""
    seen = set[str]()
    found = ((one.name, one.kind is Kind.SHAPED) for one in names(text)[:MOST])
    for name, sure in (*((name, True) for name in entities), *found):
        for form in (name, *_short(name)):
            if (same := compared(form)) not in seen:
                seen.add(same)
                yield form, sure


def _short(name: str) -> Iterator[str]:
    """Yield what a file without its folders, or a host without its domain, is called."""
    parts = name.rsplit("/", 1)[1:] if "/" in name else name.split(".", 1)[:1] if "." in name else ()
    yield from (part for part in parts if shaped(part))


def rarity(count: int, total: int) -> float:
    """Inverse document frequency of a name in `count` of `total` memories, scaled into [0.05, 1]."""
    if count >= total:
        return _LEAST
    return min(1.0, max(_LEAST, math.log((total + 1) / (count + 0.5)) / math.log(total + 2)))
