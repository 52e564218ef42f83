"""A data set's stores: one a scope, written by the product's own stages, one memory a document."""

import asyncio
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass

from bench.dataset import ALL, Dataset, Doc
from bench.stores import BATCH, Joined
from memman.judge.embedder import BuiltinEmbedder
from memman.judge.judge import Judge
from memman.llm.builtin import BuiltinLLM
from memman.llm.builtin.entities import entities
from memman.llm.builtin.extract import summary
from memman.model.records import Fact, Note, Provenance
from memman.model.uid import memory_uid, new_uid
from memman.pipeline.commit import commit
from memman.pipeline.enrich import enrich
from memman.pipeline.link import link
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.vectors import embed
from memman.pipeline.weigh import weigh
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore, open_store


@dataclass(frozen=True, slots=True)
class Shelf:
    """The store of one scope: its file, and which document each memory is."""

    path: str
    docs: dict[str, Doc]

    def reader(self) -> SqliteReader:
        """Open it as recall does."""
        found = SqliteReader.open(self.path)
        if found is None:
            raise FileNotFoundError(self.path)
        return found


@dataclass(frozen=True, slots=True)
class Shelves:
    """All stores of a data set, and what it took to make them."""

    by_scope: dict[str, Shelf]
    seconds: float
    bytes: int


def build(data: Dataset, work: str) -> Shelves:
    """Write a store for every scope that is asked of, below the folder `work`, always anew."""
    shutil.rmtree(work, ignore_errors=True)
    began = time.perf_counter()
    shelves = {}
    for n, (scope, docs) in enumerate(data.scopes.items()):
        store = open_store(work, "all" if scope == ALL else f"scope-{n}")
        shelves[scope] = Shelf(store.path, asyncio.run(fill(store, docs)))
        store.close()
    seconds = time.perf_counter() - began
    return Shelves(shelves, seconds, sum(os.path.getsize(shelf.path) for shelf in shelves.values()))


async def fill(store: SqliteStore, docs: Sequence[Doc]) -> dict[str, Doc]:
    """Store documents, one memory each; return which memory is which."""
    judge = Judge()
    local, builtin = BuiltinEmbedder(judge), BuiltinLLM(judge)
    made: dict[str, Doc] = {}
    for start in range(0, len(docs), BATCH):
        with store.unit() as unit:
            joined = Joined(store, unit)
            for doc in docs[start : start + BATCH]:
                tools = Tools(builtin, builtin, local, local, store.reader, lambda at=doc.at: at, judge, store=joined)
                plan = Plan(_note(doc), (fact(doc.text),))
                plan = await _through(tools, plan)
                made[memory_uid(plan.note.uid, 0)] = doc
        store.maintain()
    await local.close()
    return made


async def _through(tools: Tools, plan: Plan) -> Plan:
    plan = await enrich(tools, plan)
    vectors = (await tools.local.embed([fact.text for fact in plan.facts])).vectors
    plan = Plan(plan.note, plan.facts, local=vectors)
    for stage in (embed, link, weigh, commit):
        plan = await stage(tools, plan)
    if plan.outcome is None or len(plan.outcome.added) != 1:
        raise RuntimeError(f"a document did not become one memory: {plan.note.text!r}")
    return plan


def _note(doc: Doc) -> Note:
    provenance = Provenance("user", "bench", doc.session)
    return Note(new_uid(doc.at), "default", doc.text, doc.at, provenance=provenance)


def fact(text: str) -> Fact:
    """Describe a text as extract does, but leave it whole."""
    return Fact(text, entities=tuple(entities(text)), summary=summary(text))
