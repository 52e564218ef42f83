"""Working out edges and the text index again, as the rules of today would have it."""

import asyncio
from collections.abc import Callable

from memman.config import stores
from memman.config.env import Settings
from memman.config.schedule import refuse_stopped
from memman.drain.stores import Stores
from memman.locks import drain_lock
from memman.model.errors import UnknownStore
from memman.upkeep.backfill import learn, resolved
from memman.upkeep.relink import relink


def rebuild(data: str, store: str, progress: Callable[[int, int], None] = lambda done, total: None) -> int:  # noqa: ARG005
    """Rebuild temporal, entity and semantic edges and the text index of `store`; return how many memories were done.

    Causal edges and edges a person made stay. Each batch is one transaction;
    one that was interrupted goes on where it stopped. `progress` is told
    (memories done, memories in all). Raises Busy while a drain is at work, and
    UnknownStore.
    """
    refuse_stopped(data, "graph rebuild")
    if not stores.exists(data, stores.checked(store)):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")
    with drain_lock(data):
        return asyncio.run(_rebuild(data, store, progress))


async def _rebuild(data: str, name: str, progress: Callable[[int, int], None]) -> int:
    opened = Stores.of(data, Settings.load(data, name))
    try:
        store = opened.store(name)
        embedder = opened.providers.embedder()
        fingerprint = resolved(store.db, embedder.fingerprint)
        learn(store, fingerprint, embedder)
        return relink(store, fingerprint, opened.providers.local(), progress)
    finally:
        await opened.close()
