"""The stores of one drain or one command, opened on first use, and what the pipeline may use beside each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import partial
from typing import TYPE_CHECKING, Self

from memman.clock import now_ms
from memman.config.purged import Buried
from memman.config.scope import kin, mentioned
from memman.config.stores import checked
from memman.providers.chosen import by_agent, capture
from memman.providers.pool import Providers
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue

if TYPE_CHECKING:
    from memman.config.env import Settings
    from memman.model.errors import StoreError
    from memman.pipeline.plan import Tools
    from memman.store.sqlite.reader import SqliteReader
    from memman.store.sqlite.store import SqliteStore


class Stores:
    """Stores of a data folder, with the providers that work on them."""

    def __init__(self, providers: Providers, drain: str = "") -> None:
        self.providers = providers
        self.drain = drain
        self.opened: dict[str, SqliteStore] = {}
        # Stores that nothing can be written to now, and why.
        self.shut: dict[str, StoreError] = {}

    @classmethod
    def of(cls, data: str, settings: "Settings") -> Self:
        """Return those of a data folder under these settings; calls are not accounted for."""
        return cls(Providers(data, settings))

    def store(self, name: str) -> "SqliteStore":
        """Open a store for writing, made on first use. Raises why it is shut."""
        if name in self.shut:
            raise self.shut[name]
        return self.here(name)

    def writable(self) -> "dict[str, SqliteStore]":
        """Return the stores that were opened and are not shut."""
        return {name: store for name, store in self.opened.items() if name not in self.shut}

    def here(self, name: str) -> "SqliteStore":
        """Open a store for what concerns this machine's files alone, made on first use."""
        if name not in self.opened:
            from memman.queue.schema import refuse_emptied
            from memman.store.sqlite.store import open_store

            refuse_emptied(self.providers.data, checked(name))
            self.opened[name] = open_store(self.providers.data, checked(name))
        return self.opened[name]

    def equipped(self, name: str) -> "tuple[SqliteStore, Tools]":
        """Return a store and what the pipeline may use beside it."""
        store = self.store(name)
        return store, self.tools(store.reader, name)

    def tools(self, reader: "SqliteReader", store: str = "") -> "Tools":
        """Return what the pipeline may use beside a store it reads from."""
        from memman.pipeline.plan import Tools

        providers = self.providers
        return Tools(
            providers.model(),
            providers.builtin(),
            providers.local(),
            providers.embedder(store),
            reader,
            now_ms,
            providers.judge(),
            capture(providers.settings),
            sparing=by_agent(providers.settings),
            drain=self.drain,
            purged=Buried.load(providers.data).says,
            kin=partial(kin, providers.data),
            mentioned=partial(mentioned, providers.data),
        )

    async def close(self) -> None:
        """Close every connection."""
        await self.providers.close()
        for store in self.opened.values():
            store.close()


@asynccontextmanager
async def metered(data: str, settings: "Settings") -> AsyncIterator[Stores]:
    """Open stores and metered providers under `settings`."""
    with closing(Queue(data)) as queue:
        opened = Stores(Providers(data, settings, Ledger(queue.db)))
        try:
            yield opened
        finally:
            await opened.close()
