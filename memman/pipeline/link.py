"""Link a note's facts to stored memories, by one function per kind of edge."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memman.embed.base import Vectors
from memman.embed.base import cosines as whole
from memman.llm.builtin.entities import Kind, names, shaped
from memman.model.names import mentions
from memman.model.records import Edge, Fingerprint
from memman.model.terms import name as compared
from memman.model.vocabulary import NEWER
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.vectors import EVERYTHING, nearest
from memman.pipeline.vectors import fingerprint as judged_by
from memman.store.sqlite.reader import SqliteReader


def end(fact: int) -> int:
    """Return the stand-in for fact number `fact` of the note; commit puts the row id in its place."""
    return -(1 + fact)


@dataclass(frozen=True, slots=True)
class Subject:
    """The facts of one note, in order. `at` is when they began to hold, in Unix milliseconds.

    `ends` is how edges name each fact: its row id, or a stand-in below zero. `about` holds unit vectors, made by
    `judge`, of what each speaks of: a zero row for one that it has not read.
    """

    origin: str
    at: int
    ends: tuple[int, ...]
    texts: tuple[str, ...]
    entities: tuple[tuple[str, ...], ...]
    judge: Fingerprint
    about: Vectors


# Parameters of the existing memman 0.15.3, memories of the last four hours, none below 0.1, but three instead of five.
NEAR = 3
WINDOW_MS = 4 * 3_600_000
LEAST_NEARNESS = 0.1
# Nearness alone never weighs as much as the backbone.
_MOST_NEARNESS = 0.99
_HOUR_MS = 3_600_000


def temporal(reader: SqliteReader, subject: Subject) -> list[Edge]:
    """Link each fact to the one before it in its origin, and the first to what came shortly before anywhere."""
    last = next(iter(reader.newest_of(subject.origin, 1)), None)
    chain = [last, *subject.ends] if last is not None else list(subject.ends)
    backbone = [Edge("temporal", a, b, 1.0, "next") for a, b in pairwise(chain)]
    near = []
    for memory, at in reader.recent(subject.at - WINDOW_MS, NEAR):
        weight = 1 / (1 + abs(subject.at - at) / _HOUR_MS)
        if memory != last and weight >= LEAST_NEARNESS:
            near.append(Edge("temporal", memory, subject.ends[0], min(weight, _MOST_NEARNESS), "near"))
    return backbone + near


# The newest memories linked for one entity, and edges one fact may get in all.
PER_ENTITY = 3
PER_FACT = 6
# Tokens of one text that are looked up.
MOST_NAMES = 24
# The weight of a name that every memory bears.
_LEAST_RARITY = 0.05
# What is only maybe a name is one where so few memories mention it, or this share of the store; and weighs so much.
_FEW, _SHARE, _MAYBE = 3, 0.05, 0.7


def entity(reader: SqliteReader, subject: Subject) -> list[Edge]:
    """Link each fact to the newest memories, and facts of its own note, that name the same; rare names weigh more."""
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
    found = ((one.name, one.kind is Kind.SHAPED) for one in names(text)[:MOST_NAMES])
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
        return _LEAST_RARITY
    return min(1.0, max(_LEAST_RARITY, math.log((total + 1) / (count + 0.5)) / math.log(total + 2)))


TOP = 3
_POOL = 12
# How near the judge's vectors must be. Of pairs of known notes that say the same or otherwise all but one are
# nearer, of other pairs one in fourteen (29 and 213 pairs).
ALIKE = 0.5


def semantic(reader: SqliteReader, subject: Subject) -> list[Edge]:
    """Link each fact to at most TOP memories that the judge finds to bear on it."""
    number = reader.embedder_id(subject.judge)
    edges: list[Edge] = []
    if number is None:
        return edges
    for place, vector in zip(subject.ends, subject.about, strict=True):
        near = reader.filtered(nearest(reader, subject.judge, vector, _POOL), EVERYTHING)
        found = whole(vector, reader.planes(number, near))
        best = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:TOP]
        edges += [Edge("semantic", place, memory, min(cosine, 1.0)) for memory, cosine in best if cosine >= ALIKE]
    return edges


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


# The kinds that follow from what is stored, so that they can be worked out again at any time.
LINKERS: dict[str, Callable[[SqliteReader, Subject], list[Edge]]] = {
    "temporal": temporal,
    "entity": entity,
    "semantic": semantic,
}


async def link(tools: Tools, plan: Plan) -> Plan:
    """Work out the edges of every kind."""
    if not plan.facts:
        return plan
    texts = tuple(fact.text for fact in plan.facts)
    subject = Subject(
        origin=plan.note.provenance.origin,
        at=plan.note.queued_at,
        ends=tuple(end(n) for n in range(len(plan.facts))),
        texts=texts,
        entities=tuple(fact.entities for fact in plan.facts),
        judge=judged_by(tools.judge),
        about=tools.judge.about(texts),
    )
    edges = (*connected(tools.reader, subject), *causal(tools.reader, plan))
    return replace(plan, edges=edges)


def connected(reader: SqliteReader, subject: Subject) -> list[Edge]:
    """Return the edges of every kind in LINKERS. Reads a bounded number of rows, whatever the store's size."""
    edges = [edge for linker in LINKERS.values() for edge in linker(reader, subject)]
    return [edge for edge in edges if edge.src != edge.dst]
