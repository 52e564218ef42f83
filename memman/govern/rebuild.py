"""Working out edges and the text index again, as the rules of today would have it."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

from memman.config import stores
from memman.config.env import Settings
from memman.config.schedule import refuse_stopped
from memman.drain.stores import Stores
from memman.embed import LocalEmbedder
from memman.locks import drain_lock
from memman.model.errors import UnknownStore
from memman.model.records import Fingerprint
from memman.pipeline.link import LINKERS
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.backfill import learn, resolved
from memman.upkeep.relink import difference, relink, relink_stale

T = TypeVar("T")
Progress = Callable[[int, int], None]
# What is done with an open store, its vectors' fingerprint and the built-in embedder.
Work = Callable[[SqliteStore, Fingerprint, LocalEmbedder], T]


def rebuild(
    data: str,
    store: str,
    progress: Progress = lambda done, total: None,  # noqa: ARG005
    *,
    stale_only: bool = False,
) -> int:
    """Rebuild temporal, entity and semantic edges and the text index of `store`; return how many memories were done.

    Causal edges and edges a person made stay. Each batch is one transaction;
    one that was interrupted goes on where it stopped. `progress` is told
    (memories done, memories in all). With `stale_only` only what other rules
    or other vectors than today's have linked is linked again, and the text
    index stays. Raises Busy while a drain is at work, and UnknownStore.
    """
    work = relink_stale if stale_only else relink
    return _alone(data, store, lambda opened, made, local: work(opened, made, local, progress), learns=True)


def foreseen(
    data: str,
    store: str,
    progress: Progress = lambda done, total: None,  # noqa: ARG005
    *,
    stale_only: bool = False,
) -> dict[str, Any]:
    """Return how many edges of each kind a rebuild would add and drop, and of how many memories; write nothing.

    Raises what `rebuild` does.
    """

    def work(opened: SqliteStore, made: Fingerprint, local: LocalEmbedder) -> dict[str, Any]:
        found = difference(opened, made, local, progress, stale_only=stale_only)
        kinds = {kind: {"added": found.added[kind], "dropped": found.dropped[kind]} for kind in LINKERS}
        return {"memories": opened.reader.last(), "stale": len(found.memories), "edges": kinds}

    return _alone(data, store, work)


def check(data: str, store: str) -> None:
    """Raise where nothing may be rebuilt now, or the store is not there."""
    refuse_stopped(data, "graph rebuild")
    if not stores.exists(data, stores.checked(store)):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")


def _alone(data: str, store: str, work: Work[T], *, learns: bool = False) -> T:
    check(data, store)
    with drain_lock(data):
        return asyncio.run(_done(data, store, work, learns=learns))


async def _done(data: str, name: str, work: Work[T], *, learns: bool) -> T:
    opened = Stores.of(data, Settings.load(data, name))
    try:
        store = opened.store(name)
        embedder = opened.providers.embedder()
        fingerprint = resolved(store.db, embedder.fingerprint)
        if learns:
            learn(store, fingerprint, embedder)
        return work(store, fingerprint, opened.providers.local())
    finally:
        await opened.close()
