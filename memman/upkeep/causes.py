"""Asking the model what caused what among stored memories: only causal edges are made of its answers."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from memman.model.errors import BadReply, Refused
from memman.model.records import Candidate, Edge, Fact, Note, Provenance, Request
from memman.pipeline.candidates import find
from memman.pipeline.link.causal import causal
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.reconcile import causes, compared
from memman.store.sqlite.store import SqliteStore

_KEY = "causes"
# Memories that hold, and whose note at most the built-in model has compared with others.
_OPEN = """
SELECT m.id, m.uid, m.text, m.note, m.category, m.entities, m.valid_from, m.source, coalesce(r.agent, '')
FROM memory m LEFT JOIN receipt r ON r.note = m.note
WHERE m.id > ? AND m.status = 'current'
AND coalesce(iif(json_valid(r.models), json_extract(r.models, '$.reconcile'), NULL), 'builtin/') LIKE '%builtin/%'
ORDER BY m.id
"""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Question:
    """What the model is asked about the memories of one note, in `rows`, and those near to them."""

    rows: tuple[int, ...]
    plan: Plan
    offered: list[Candidate]
    request: Request


def questions(store: SqliteStore, tools: Tools) -> Iterator[Question]:
    """Yield what no model has been asked about yet, oldest first."""
    rows: list[Any] = store.db.execute(_OPEN, (int(store.reader.meta(_KEY) or 0),)).fetchall()
    for _, group in groupby(rows, lambda row: row[3]):
        if question := _question(store, tools, list(group)):
            yield question


async def ask(
    store: SqliteStore, tools: Tools, asked: Sequence[Question], at_once: int, progress: Progress
) -> tuple[int, int]:
    """Put questions to the model; return how many it answered and causes it named, all kept. Raises ProviderError."""
    answered = done = 0
    found = set[tuple[int, int]]()
    for first in range(0, len(asked), at_once):
        some = asked[first : first + at_once]
        replies = await asyncio.gather(*(tools.llm.complete(one.request) for one in some), return_exceptions=True)
        trouble = [one for one in replies if isinstance(one, BaseException) and not isinstance(one, BadReply | Refused)]
        with store.unit() as unit:
            for one, reply in zip(some, replies, strict=True):
                if not isinstance(reply, BaseException):
                    edges = _edges(store, one, reply.data)
                    unit.link(edges)
                    found |= {(edge.src, edge.dst) for edge in edges}
                    answered += 1
            if not trouble:
                unit.set_meta(_KEY, str(some[-1].rows[-1]))
        if trouble:
            raise trouble[0]
        done += len(some)
        progress(done, len(asked))
    return answered, len(found)


def _question(store: SqliteStore, tools: Tools, rows: Sequence[Any]) -> Question | None:
    ids, uids, texts, notes, categories, entities, times, sources, agents = zip(*rows, strict=True)
    repository, _ = store.reader.scope_of(ids[:1]).get(ids[0], ("", ""))
    stamped = Provenance(source=sources[0], agent=agents[0], repository=repository)
    note = Note(notes[0], "", "", times[0], provenance=stamped)
    facts = tuple(
        Fact(text, category, entities=tuple(json.loads(names)))
        for text, category, names in zip(texts, categories, entities, strict=True)
    )
    local = tools.local.vectors(texts)
    candidates = tuple(
        tuple(one for one in find(tools, note, fact, vector) if one.uid not in uids)
        for fact, vector in zip(facts, local, strict=True)
    )
    plan = Plan(note, facts, local=local, candidates=candidates)
    asked = compared(plan)
    return Question(ids, plan, asked[1], asked[0]) if asked else None


def _edges(store: SqliteStore, one: Question, data: Any) -> list[Edge]:
    told = causal(store.reader, replace(one.plan, causes=causes(one.plan, one.offered, data)))
    rows = {-1 - n: row for n, row in enumerate(one.rows)}
    return [replace(edge, src=rows.get(edge.src, edge.src), dst=rows.get(edge.dst, edge.dst)) for edge in told]
