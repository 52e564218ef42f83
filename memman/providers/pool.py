"""The providers of one command or one drain, made when first needed and closed together."""

import asyncio
import os
from typing import TYPE_CHECKING

from memman.config.env import Settings, env_path
from memman.config.keys import host, in_local_network
from memman.providers import build, chosen

if TYPE_CHECKING:
    from collections.abc import Callable

    from memman.embed import Embedder, LocalEmbedder
    from memman.http import Http
    from memman.judge.judge import Judge
    from memman.llm import LLM
    from memman.llm.builtin import BuiltinLLM
    from memman.providers.meter import Budget, MeteredLLM
    from memman.queue.ledger import Ledger
    from memman.queue.notes import Queue


class Providers:
    """Models and embedders as the settings of a data folder choose them.

    Calls are counted in `ledger`, and without one not at all. With a `queue` the model is asked as a drain asks it:
    what fails is remembered there, and another answers in its place.
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
            self._builtin = build.builtin_llm(self.settings)
        return self._builtin

    def judge(self) -> "Judge | None":
        """Return the trained judge, or None if the settings turn it off."""
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
            return build.llm(self.settings, self.http)
        return self._agents() if chosen.by_agent(self.settings) else self._by_http()

    def _by_http(self) -> "LLM":
        """Return models behind HTTP, in order: within the budget, about as many notes at once as the settings say."""
        from memman.llm.batch import Batched

        first: LLM = self._metered(build.llm(self.settings, self.http), chosen.budget(self.settings))
        most = int(self.settings["MEMMAN_LLM_BATCH"] or 1)
        first = Batched(first, most) if most > 1 else first
        if self.queue is None:
            return first
        last = self.settings["MEMMAN_LLM_FALLBACK"].endswith("builtin")
        return self._first_of([first, *self._fallback()], self.queue, last=last)

    def _agents(self) -> "LLM":
        """Return the user's agent, or all of them, one call at a time; where one fails, another answers."""
        turn, others, queue = asyncio.Lock(), self._fallback() if self.queue else [], self.queue

        def asked(agent: "LLM") -> "LLM":
            first = self._agent(agent, turn)
            return self._first_of([first, *others], queue, last=True) if queue else first

        return build.agent_llm(self.settings, asked)

    def _agent(self, agent: "LLM", turn: asyncio.Lock) -> "LLM":
        """Return an agent asked about several notes at once, and in a drain left alone once it has failed."""
        from memman.llm.batch import MOST, Batched
        from memman.providers.breaker import CircuitBreaker

        metered = self._metered(agent, *chosen.agent_budgets(self.settings), turn=turn)
        several = Batched(metered, int(self.settings["MEMMAN_LLM_BATCH"] or MOST))
        return CircuitBreaker(several, self.queue, self.tell) if self.queue else several

    def _first_of(self, models: "list[LLM]", queue: "Queue", *, last: bool) -> "LLM":
        from memman.providers.fitness import Fitness
        from memman.providers.relay import Relay

        return Relay(models, self.builtin(), Fitness(queue, self.tell), last=last)

    def _fallback(self) -> "list[LLM]":
        """Return the model that answers in place of the first, if the settings name one."""
        from memman.providers.meter import Budget

        second = build.fallback_llm(self.settings, self.http)
        if second is None:
            return []
        record = chosen.fallback_in_force(self.settings)
        if not record["endpoint"]:
            return [self._agent(second, asyncio.Lock())]
        # What the local network answers costs nothing.
        free = in_local_network(host(record["endpoint"]))
        return [self._metered(second, Budget() if free else chosen.said_budget(self.settings, "fallback"))]

    def _metered(self, model: "LLM", *bounds: "Budget", turn: asyncio.Lock | None = None) -> "MeteredLLM":
        from memman.providers.meter import MeteredLLM

        assert self.ledger is not None, "only what is accounted for is metered"  # noqa: S101 - our own contract
        return MeteredLLM(model, self.ledger, *bounds, turn=turn)

    def _metered_embedder(self, settings: Settings) -> "Embedder":
        from memman.providers.meter import CachedEmbedder, MeteredEmbedder

        vectors = build.embedder(settings, self.http, self.local())
        if vectors is self.local():
            return vectors
        return CachedEmbedder(
            MeteredEmbedder(vectors, self.ledger, chosen.said_budget(settings, "embed")) if self.ledger else vectors
        )
