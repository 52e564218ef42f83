"""How providers are built, and those of one command or one drain, made when first needed and closed together."""

import asyncio
import os
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memman.config.env import Settings, env_path
from memman.config.places import data_dir
from memman.config.providers import AGENTS, AUTO, EMBEDDERS, LLMS, Provider
from memman.model.vocabulary import BUILTIN
from memman.providers import chosen
from memman.providers.chosen import by_agent, llm_in_force, llm_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memman.embed.base import Embedder, LocalEmbedder
    from memman.http import Http
    from memman.judge.judge import Judge
    from memman.llm import LLM
    from memman.llm.builtin import BuiltinLLM
    from memman.queue.ledger import Ledger
    from memman.queue.notes import Queue


class Providers:
    """Models and embedders as the settings of a data folder choose them.

    Calls are counted in `ledger`, and without one not at all. With a `queue` the model is asked as a drain asks it:
    what fails is remembered there, and the built-in one answers in its place.
    """

    def __init__(
        self,
        data: str,
        settings: Settings,
        ledger: "Ledger | None" = None,
        queue: "Queue | None" = None,
        tell: "Callable[..., None]" = lambda event, **fields: None,  # noqa: ARG005 - nobody looks on by default
    ) -> None:
        self.data, self.settings, self.ledger, self.queue, self.tell = data, settings, ledger, queue, tell
        settings.reach_out()
        self._http: Http | None = None
        self._model: LLM | None = None
        self._builtin: BuiltinLLM | None = None
        self._local: LocalEmbedder | None = None
        self._embedders: dict[str, Embedder] = {}

    def http(self) -> "Http":
        """Return the one HTTP client."""
        from memman.http import Http, Policy

        if self._http is None:
            tries = int(self.settings["MEMMAN_HTTP_TRIES"])
            self._http = Http(Policy(timeout=float(self.settings["MEMMAN_HTTP_TIMEOUT"]), tries=tries))
        return self._http

    def model(self) -> "LLM":
        """Return the model; where calls are accounted for as a drain asks it, with what answers in its place."""
        if self._model is None:
            self._model = self._chosen_model()
        return self._model

    def builtin(self) -> "BuiltinLLM":
        """Return the built-in model."""
        if self._builtin is None:
            from memman.judge.judge import Judge
            from memman.llm.builtin import BuiltinLLM

            self._builtin = BuiltinLLM(Judge())
        return self._builtin

    def judge(self) -> "Judge":
        """Return the trained judge."""
        return self.builtin().judge

    def local(self) -> "LocalEmbedder":
        """Return the built-in embedder."""
        if self._local is None:
            from memman.judge.embedder import BuiltinEmbedder

            # With the judge that decides it shares what that remembers of a text.
            self._local = BuiltinEmbedder(self.judge())
        return self._local

    def settings_of(self, store: str) -> Settings:
        """Return the settings of a store: all of them, with what it has of its own. Raises BadConfig."""
        own = bool(store) and os.path.exists(env_path(self.data, store))
        return Settings.load(self.data, store) if own else self.settings

    def embedder(self, store: str = "") -> "Embedder":
        """Return what links and reconciles, in a store that has an embedder of its own that one. Raises BadConfig."""
        settings = self.settings_of(store)
        whose = "" if settings is self.settings else store
        if whose not in self._embedders:
            self._embedders[whose] = self._metered_embedder(settings)
        return self._embedders[whose]

    def load(self) -> None:
        """Make model and embedder now, so that what their imports run into happens before anything begins."""
        self.model()
        self.builtin()
        self.embedder()

    async def close(self) -> None:
        """Close every connection."""
        for model in filter(None, (self._model, self._builtin)):
            await model.close()
        for embedder in filter(None, (self._local, *self._embedders.values())):
            await embedder.close()
        if self._http is not None:
            await self._http.close()

    def _chosen_model(self) -> "LLM":
        if chosen.llm_provider(self.settings) == "builtin":
            return self.builtin()
        if self.ledger is None:
            return llm(self.settings, self.http)
        if not chosen.by_agent(self.settings):
            return self._asked(llm(self.settings, self.http), self.ledger)
        turn, ledger = asyncio.Lock(), self.ledger
        return agent_llm(self.settings, lambda agent: self._asked(agent, ledger, turn))

    def _asked(self, model: "LLM", ledger: "Ledger", turn: asyncio.Lock | None = None) -> "LLM":
        """Return a model within the budget, asked about several notes at once, and in a drain guarded.

        Agents are asked one call at a time, in `turn`.
        """
        from memman.llm.batch import MOST, Batched
        from memman.providers.guard import Guard
        from memman.providers.meter import MeteredLLM

        most = int(self.settings["MEMMAN_LLM_BATCH"] or (MOST if turn else 1))
        asked: LLM = MeteredLLM(model, ledger, chosen.budget(self.settings), turn)
        asked = Batched(asked, most) if most > 1 else asked
        if self.queue is None:
            return asked
        last = bool(self.settings["MEMMAN_LLM_FALLBACK"])
        return Guard(asked, self.builtin(), self.queue, self.tell, last=last, agent=turn is not None)

    def _metered_embedder(self, settings: Settings) -> "Embedder":
        from memman.providers.meter import MeteredEmbedder

        vectors = embedder(settings, self.http, self.local())
        if vectors is self.local() or self.ledger is None:
            return vectors
        return MeteredEmbedder(vectors, self.ledger, chosen.embed_budget(settings))


def llm(settings: Settings, http: "Callable[[], Http]") -> "LLM":
    """Build the configured model, which is not the built-in one."""
    if by_agent(settings):
        return agent_llm(settings)
    from memman.llm.remote import Price

    record, price = llm_in_force(settings), settings["MEMMAN_LLM_PRICE"]
    models = {role: record[role] for role in ("fast", "slow")}
    costs = Price(*map(float, price.split(","))) if price else None
    kind, key = adapter(LLMS[record["provider"]]), settings["MEMMAN_LLM_API_KEY"]
    model: LLM = kind(http(), record["endpoint"], key, models, costs, provider=record["provider"])
    return model


def agent_llm(settings: Settings, wrapped: "Callable[[LLM], LLM]" = lambda agent: agent) -> "LLM":
    """Build the user's own agent as the model; with `auto` one of them for each note. Each is `wrapped`."""
    from memman.llm.agent.clients import CLIENTS
    from memman.llm.agent.model import AgentModel, WhicheverAgent

    def agent(name: str, models: dict[str, str], command: str = "") -> "LLM":
        return wrapped(AgentModel(CLIENTS[name], f"{data_dir()}/agent/{name}", models, command))

    provider = llm_provider(settings)
    if provider == AUTO:
        return WhicheverAgent({name: agent(name, {}) for name in AGENTS})
    models = {"fast": settings["MEMMAN_LLM_MODEL_FAST"], "slow": settings["MEMMAN_LLM_MODEL_SLOW"]}
    return agent(provider, models, settings["MEMMAN_LLM_COMMAND"])


@contextmanager
def builtin_embedder() -> "Iterator[LocalEmbedder]":
    """Open the built-in embedder, for what needs no other and no settings."""
    from memman.judge.embedder import BuiltinEmbedder

    local = BuiltinEmbedder()
    try:
        yield local
    finally:
        asyncio.run(local.close())


def embedder(settings: Settings, http: "Callable[[], Http]", local: "Embedder") -> "Embedder":
    """Build the embedder that links and reconciles; `local` is the built-in one."""
    provider = settings["MEMMAN_EMBED_PROVIDER"]
    if provider == BUILTIN:
        return local
    row = EMBEDDERS[provider]
    vectors: Embedder = adapter(row)(
        http(),
        provider,
        settings["MEMMAN_EMBED_ENDPOINT"] or row.endpoint,
        settings["MEMMAN_EMBED_API_KEY"],
        settings["MEMMAN_EMBED_MODEL"] or row.models[0],
        int(settings["MEMMAN_EMBED_DIMENSION"] or 0),
        settings.number("MEMMAN_EMBED_PRICE"),
    )
    return vectors


def adapter(row: Provider) -> Any:
    """Return the class that speaks to a provider."""
    module, _, name = row.adapter.partition(":")
    return getattr(import_module(module), name)
