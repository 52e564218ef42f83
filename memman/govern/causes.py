"""Having the configured model say what caused what among stored memories."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from typing import NamedTuple, TypeVar

from memman.config.env import Settings
from memman.drain.stores import Stores
from memman.govern.rebuild import check
from memman.llm.batch import MOST
from memman.locks import drain_lock
from memman.model.errors import UsageError
from memman.pipeline.plan import Tools
from memman.providers import by_agent, llm_in_force, llm_provider
from memman.providers.pool import Providers
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue
from memman.store.sqlite.store import SqliteStore
from memman.upkeep import causes

T = TypeVar("T")
# For the estimate; both are rather too much than too little.
_CHARACTERS_A_TOKEN, _TOKENS_AN_ANSWER = 3, 200


class Estimate(NamedTuple):
    """Whom it is asked of, and about what it takes at most."""

    provider: str
    questions: int
    tokens: int


def estimate(data: str, store: str) -> Estimate:
    """Say what `ask` would take. Raises UsageError where no model is configured, and Busy while a drain is at work."""
    settings = _settings(data, store)

    async def work(opened: SqliteStore, tools: Tools) -> Estimate:
        found = [one.request for one in causes.questions(opened, tools)]
        letters = sum(len(one.system) + len(one.user) for one in found)
        tokens = letters // _CHARACTERS_A_TOKEN + _TOKENS_AN_ANSWER * len(found)
        return Estimate(llm_in_force(settings)["provider"], len(found), tokens)

    return asyncio.run(_alone(data, store, settings, work))


def ask(data: str, store: str, progress: causes.Progress) -> dict[str, int]:
    """Ask about all memories that no model has compared yet; return how many answers there were, and causes in them.

    The calls count in the ledger and within the daily budget. Raises what `estimate` does, and ProviderError.
    """
    settings = _settings(data, store)
    usual = MOST if by_agent(settings) else settings["MEMMAN_DRAIN_CONCURRENCY"]
    at_once = int(settings["MEMMAN_LLM_BATCH"] or usual)

    async def work(opened: SqliteStore, tools: Tools) -> dict[str, int]:
        asked = list(causes.questions(opened, tools))
        answered, found = await causes.ask(opened, tools, asked, at_once, progress)
        return {"asked": answered, "causes": found}

    return asyncio.run(_alone(data, store, settings, work))


def _settings(data: str, store: str) -> Settings:
    check(data, store)
    settings = Settings.load(data, store)
    if llm_provider(settings) == "builtin":
        raise UsageError("--with-model needs a model, and none is set up: the built-in one finds no causes")
    return settings


async def _alone(data: str, name: str, settings: Settings, work: Callable[[SqliteStore, Tools], Awaitable[T]]) -> T:
    with drain_lock(data):
        async with _opened(data, settings) as stores:
            return await work(*stores.equipped(name))


@asynccontextmanager
async def _opened(data: str, settings: Settings) -> AsyncIterator[Stores]:
    with closing(Queue(data)) as queue:
        stores = Stores(Providers(data, settings, Ledger(queue.db)))
        try:
            yield stores
        finally:
            await stores.close()
