"""Working out edges and the text index again, as the rules of today would have it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from typing import Any, NamedTuple, TypeVar

from memman.config import stores
from memman.config.env import Settings
from memman.config.schedule import refuse_stopped
from memman.drain.stores import Stores
from memman.embed import LocalEmbedder
from memman.llm.batch import MOST
from memman.locks import drain_lock
from memman.model.errors import UnknownStore, UsageError
from memman.model.records import Fingerprint
from memman.pipeline.link import LINKERS
from memman.providers import by_agent, llm_in_force, llm_provider
from memman.providers.pool import Providers
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue
from memman.store.sqlite.store import SqliteStore
from memman.upkeep import causes
from memman.upkeep.backfill import learn, resolved
from memman.upkeep.relink import difference, relink, relink_stale

T = TypeVar("T")
Progress = Callable[[int, int], None]
# What is done with an open store, its vectors' fingerprint and the built-in embedder.
Work = Callable[[SqliteStore, Fingerprint, LocalEmbedder], T]
# For the estimate; both are rather too much than too little.
_CHARACTERS_A_TOKEN, _TOKENS_AN_ANSWER = 3, 200


def rebuild(data: str, store: str, progress: Progress, *, stale_only: bool = False) -> int:
    """Rebuild the edges that rules make and the text index of `store`; return how many memories were done.

    With `stale_only` link again only what other rules or other vectors than today's have linked. One that was
    interrupted goes on where it stopped. Raises Busy while a drain is at work, and UnknownStore.
    """
    work = relink_stale if stale_only else relink
    return _linked(data, store, lambda opened, made, local: work(opened, made, local, progress), learns=True)


def foreseen(data: str, store: str, progress: Progress, *, stale_only: bool = False) -> dict[str, Any]:
    """Return how many edges of each kind a rebuild would add and drop, and of how many memories; write nothing."""

    def work(opened: SqliteStore, made: Fingerprint, local: LocalEmbedder) -> dict[str, Any]:
        found = difference(opened, made, local, progress, stale_only=stale_only)
        kinds = {kind: {"added": found.added[kind], "dropped": found.dropped[kind]} for kind in LINKERS}
        return {"memories": opened.reader.last(), "stale": len(found.memories), "edges": kinds}

    return _linked(data, store, work)


def check(data: str, store: str) -> None:
    """Raise where nothing may be rebuilt now, or the store is not there."""
    refuse_stopped(data, "graph rebuild")
    if not stores.exists(data, stores.checked(store)):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")


def _linked(data: str, name: str, work: Work[T], *, learns: bool = False) -> T:
    check(data, name)

    async def done(opened: Stores) -> T:
        store, embedder = opened.store(name), opened.providers.embedder()
        made = resolved(store.db, embedder.fingerprint)
        if learns:
            learn(store, made, embedder)
        return work(store, made, opened.providers.local())

    return _alone(data, Settings.load(data, name), done)


class Estimate(NamedTuple):
    """Whom it is asked of, and about what it takes at most."""

    provider: str
    questions: int
    tokens: int


def estimate(data: str, store: str) -> Estimate:
    """Say what `ask` would take. Raises UsageError where no model is configured, and Busy while a drain is at work."""
    settings = _settings(data, store)

    async def work(opened: Stores) -> Estimate:
        found = [one.request for one in causes.questions(*opened.equipped(store))]
        letters = sum(len(one.system) + len(one.user) for one in found)
        tokens = letters // _CHARACTERS_A_TOKEN + _TOKENS_AN_ANSWER * len(found)
        return Estimate(llm_in_force(settings)["provider"], len(found), tokens)

    return _alone(data, settings, work)


def ask(data: str, store: str, progress: causes.Progress) -> dict[str, int]:
    """Ask about all memories that no model has compared yet; return how many answers and causes there were."""
    settings = _settings(data, store)
    usual = MOST if by_agent(settings) else settings["MEMMAN_DRAIN_CONCURRENCY"]
    at_once = int(settings["MEMMAN_LLM_BATCH"] or usual)

    async def work(opened: Stores) -> dict[str, int]:
        asked = list(causes.questions(*opened.equipped(store)))
        answered, found = await causes.ask(*opened.equipped(store), asked, at_once, progress)
        return {"asked": answered, "causes": found}

    return _alone(data, settings, work)


def _settings(data: str, store: str) -> Settings:
    check(data, store)
    settings = Settings.load(data, store)
    if llm_provider(settings) == "builtin":
        raise UsageError("--with-model needs a model, and none is set up: the built-in one finds no causes")
    return settings


def _alone(data: str, settings: Settings, work: Callable[[Stores], Awaitable[T]]) -> T:
    async def done() -> T:
        async with metered(data, settings) as opened:
            return await work(opened)

    with drain_lock(data):
        return asyncio.run(done())


@asynccontextmanager
async def metered(data: str, settings: Settings) -> AsyncIterator[Stores]:
    """Open stores and metered providers under `settings`."""
    with closing(Queue(data)) as queue:
        opened = Stores(Providers(data, settings, Ledger(queue.db)))
        try:
            yield opened
        finally:
            await opened.close()
