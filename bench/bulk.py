"""Large stores, quickly: the product's own link and commit, fed from other processes and answered from memory.

Each sentence of the corpus is a fact, described by the built-in model. Otherwise three things differ from a drain: what
links are made of is answered from memory (`recent.py` says how), a session is indexed once at its end instead of again
with each of its notes, and maintenance is done after every thousand notes. The same code fills the
same tables.
"""

import asyncio
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from itertools import groupby
from multiprocessing import get_context
from typing import Any

from bench import corpus
from bench.gathered import Gathered, Remembering, Unread
from bench.recent import Recent
from bench.shelves import fact
from bench.stores import note
from memman.llm.builtin import BuiltinLLM
from memman.model.records import Note
from memman.pipeline.commit import commit
from memman.pipeline.link import link
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.weigh import weigh
from memman.store.sqlite.store import SqliteStore

# Notes a transaction: whole sessions.
BATCH = 50 * corpus.NOTES_A_SESSION
WORKERS = 2
# A store that is lost with the power is built again; none of this changes what is in the file.
_HASTE = ("PRAGMA synchronous = OFF", "PRAGMA cache_size = -400000", "PRAGMA wal_autocheckpoint = 20000")


class _Joined:
    """A store whose transaction is open already, and whose reader answers from memory."""

    def __init__(self, store: SqliteStore, reader: Recent, unit: Gathered) -> None:
        self.reader, self.cell, self._unit = reader, store.cell, unit

    @contextmanager
    def unit(self) -> Iterator[Gathered]:
        """Hand out the open transaction."""
        yield self._unit

    def act(self, note: Note) -> AbstractContextManager[None]:
        """Have what is recorded inside be an act of its own, as a drain's transaction is."""
        return self._unit.other_act(note.queued_at, note.uid)

    def flush(self) -> None:
        """Index what a session has brought."""
        self._unit.flush(_providers()[1], self.cell)


def fill(store: SqliteStore, recent: Recent, first: int, memories: int) -> int:
    """Append notes, from number `first`, until `store` holds `memories`; return the number of the next one.

    `recent` must have seen every memory of the store.
    """
    for pragma in _HASTE:
        store.db.execute(pragma)
    recent.reader = store.reader
    with ProcessPoolExecutor(WORKERS, get_context("spawn")) as pool:
        for plans in _ahead(pool, first):
            with store.unit() as unit:
                first += asyncio.run(_write(_Joined(store, recent, Gathered(unit)), plans, memories))
            store.maintain()
            if recent.count() >= memories:
                break
        pool.shutdown(wait=False, cancel_futures=True)
    return first


def _ahead(pool: ProcessPoolExecutor, first: int) -> Iterator[list[Plan]]:
    """Yield batch after batch, worked out by other processes while earlier ones are written."""
    waiting: deque[Future[list[Plan]]] = deque()
    while True:
        while len(waiting) <= WORKERS:
            waiting.append(pool.submit(understood, first, BATCH - first % BATCH))
            first += BATCH - first % BATCH
        yield waiting.popleft().result()


@cache
def _providers() -> tuple[BuiltinLLM, Remembering]:
    local = Remembering()
    return BuiltinLLM(Unread(local)), local


def understood(first: int, count: int) -> list[Plan]:
    """Make plans of notes: each sentence a fact, embedded."""
    local = _providers()[1]
    plans = []
    for n, sample in enumerate(corpus.notes(first, count), first):
        facts = tuple(fact(sentence.text) for sentence in sample.sentences)
        vectors = local.vectors([one.text for one in facts])
        plans.append(Plan(note(n, sample), facts, local=vectors, vectors=vectors))
    return plans


async def write(store: Any, plan: Plan) -> Plan:
    """Link, weigh and commit one note."""
    builtin, local = _providers()
    clock = lambda: plan.note.queued_at  # noqa: E731 - one line
    tools = Tools(builtin, builtin, local, local, store.reader, clock, builtin.judge, store=store)
    return await commit(tools, await weigh(tools, await link(tools, plan)))


async def _write(store: _Joined, plans: Sequence[Plan], memories: int) -> int:
    """Link and commit notes until the store is full; return how many those were."""
    written = 0
    for _, session in groupby(plans, key=lambda plan: plan.note.provenance.session):
        for plan in session:
            if store.reader.count() >= memories:
                break
            _providers()[1].take(plan)
            with store.act(plan.note):
                store.reader.take(await write(store, plan))
            written += 1
        store.flush()
    return written
