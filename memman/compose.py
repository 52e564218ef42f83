"""The composition root: settings become providers, stores and a drain. Nothing else names an adapter."""

import asyncio
import gc
import os
import signal
import time
from typing import TYPE_CHECKING

from memman import providers
from memman.clock import now_ms
from memman.config.env import Settings, env_path
from memman.config.ground import claim
from memman.config.keys import host, near
from memman.config.places import data_dir
from memman.config.schedule import Schedule, beat, refuse_stopped, ring, silence
from memman.config.stores import checked
from memman.drain.lock import drain_lock
from memman.model.vocabulary import MINILM

if TYPE_CHECKING:
    from collections.abc import Callable

    from memman.drain.loop import Drain, Limits
    from memman.drain.meter import Budget, MeteredLLM
    from memman.drain.report import Report
    from memman.drain.runner import Watch
    from memman.drain.worklog import Worklog
    from memman.embed import Embedder, LocalEmbedder
    from memman.http import Http
    from memman.judge.judge import Judge
    from memman.llm import LLM
    from memman.llm.builtin import BuiltinLLM
    from memman.pipeline.plan import Plan, Tools
    from memman.queue.ledger import Ledger
    from memman.queue.notes import Queue
    from memman.store.protocols import Reader
    from memman.store.sqlite.store import SqliteStore

_STOPPING = (signal.SIGTERM, signal.SIGINT)


def stage_versions(settings: Settings, reader: "Reader") -> dict[str, str]:
    """Return every stage's version under these settings; asks no provider anything."""
    from memman.pipeline import PIPELINE

    async def asked() -> dict[str, str]:
        workshop = Workshop(data_dir(), settings)
        try:
            tools = workshop.tools(reader)
            return {stage.name: stage.version(tools) for stage in PIPELINE}
        finally:
            await workshop.close()

    return asyncio.run(asked())


class Workshop:
    """Providers and stores of one drain, made when first needed and closed together."""

    def __init__(
        self,
        data: str,
        settings: Settings,
        ledger: "Ledger | None" = None,
        queue: "Queue | None" = None,
        tell: "Callable[..., None]" = lambda event, **fields: None,  # noqa: ARG005 - nobody looks on by default
    ) -> None:
        self.data, self.settings, self.ledger, self.queue, self.tell = data, settings, ledger, queue, tell
        self.stores: dict[str, SqliteStore] = {}
        self._http: Http | None = None
        self._providers: tuple[LLM, BuiltinLLM, LocalEmbedder, Embedder] | None = None
        self._upgrade: LocalEmbedder | None = None
        self._own: dict[str, Embedder] = {}

    def http(self) -> "Http":
        """Return the one HTTP client."""
        from memman.http import Http, Policy

        if self._http is None:
            tries = int(self.settings["MEMMAN_HTTP_TRIES"])
            self._http = Http(Policy(timeout=float(self.settings["MEMMAN_HTTP_TIMEOUT"]), tries=tries))
        return self._http

    def providers(self) -> "tuple[LLM, BuiltinLLM, LocalEmbedder, Embedder]":
        """Return the model, the built-in model and embedder, and the configured embedder."""
        if self._providers is None:
            from memman.embed.builtin import BuiltinEmbedder

            local, builtin = BuiltinEmbedder(), providers.builtin_llm(self.settings)
            self._providers = self._model(builtin), builtin, local, self._embedder(self.settings, local)
        return self._providers

    def _model(self, builtin: "BuiltinLLM") -> "LLM":
        """Return the model; where calls are accounted for as a drain asks it, with what stands in for it."""
        if providers.llm_provider(self.settings) == "builtin":
            return builtin
        if self.ledger is None:
            return providers.llm(self.settings, self.http)
        return self._agents(builtin) if providers.by_agent(self.settings) else self._relay(builtin)

    def _relay(self, builtin: "BuiltinLLM") -> "LLM":
        """Return models behind HTTP, in order: within the budget, about as many notes at once as the settings say."""
        from memman.llm.batch import Batched

        first: LLM = self._metered(providers.llm(self.settings, self.http), providers.budget(self.settings))
        most = int(self.settings["MEMMAN_LLM_BATCH"] or 1)
        first = Batched(first, most) if most > 1 else first
        if self.queue is None:
            return first
        last = self.settings["MEMMAN_LLM_FALLBACK"].endswith("builtin")
        return self._first_of([first, *self._fallback()], builtin, self.queue, last=last)

    def _agents(self, builtin: "BuiltinLLM") -> "LLM":
        """Return the user's agent, or all of them, one call at a time; where one fails, another answers."""
        turn, others, queue = asyncio.Lock(), self._fallback() if self.queue else [], self.queue

        def asked(agent: "LLM") -> "LLM":
            first = self._agent(agent, turn)
            return self._first_of([first, *others], builtin, queue, last=True) if queue else first

        return providers.agent_llm(self.settings, asked)

    def _agent(self, agent: "LLM", turn: asyncio.Lock) -> "LLM":
        """Return an agent asked about several notes at once, and in a drain left alone once it has failed."""
        from memman.drain.breaker import CircuitBreaker
        from memman.llm.batch import MOST, Batched

        metered = self._metered(agent, *providers.agent_budgets(self.settings), turn=turn)
        several = Batched(metered, int(self.settings["MEMMAN_LLM_BATCH"] or MOST))
        return CircuitBreaker(several, self.queue, self.tell) if self.queue else several

    def _first_of(self, models: "list[LLM]", builtin: "BuiltinLLM", queue: "Queue", *, last: bool) -> "LLM":
        from memman.drain.fitness import Fitness
        from memman.drain.relay import Relay

        return Relay(models, builtin, Fitness(queue, self.tell), last=last, decided=queue.decided_instead)

    def _fallback(self) -> "list[LLM]":
        """Return the model that answers in place of the first, where the settings name one."""
        from memman.drain.meter import Budget

        second = providers.fallback_llm(self.settings, self.http)
        if second is None:
            return []
        record = providers.fallback_in_force(self.settings)
        if not record["endpoint"]:
            return [self._agent(second, asyncio.Lock())]
        # What the local network answers costs nothing.
        free = near(host(record["endpoint"]))
        return [self._metered(second, Budget() if free else providers.said_budget(self.settings))]

    def _metered(self, model: "LLM", *bounds: "Budget", turn: asyncio.Lock | None = None) -> "MeteredLLM":
        from memman.drain.meter import MeteredLLM

        assert self.ledger is not None, "only what is accounted for is metered"  # noqa: S101 - our own contract
        return MeteredLLM(model, self.ledger, *bounds, turn=turn)

    def _embedder(self, settings: Settings, local: "LocalEmbedder") -> "Embedder":
        from memman.drain.meter import MeteredEmbedder
        from memman.embed.cache import CachedEmbedder

        vectors = providers.embedder(settings, self.http, local)
        if vectors is local:
            return local
        return CachedEmbedder(
            MeteredEmbedder(vectors, self.ledger, providers.said_budget(settings)) if self.ledger else vectors
        )

    def local(self) -> "LocalEmbedder":
        """Return the built-in embedder."""
        return self.providers()[2]

    def judge(self) -> "Judge | None":
        """Return the trained judge, None where the settings turn it off."""
        return self.providers()[1].judge

    def settings_of(self, store: str) -> Settings:
        """Return the settings of a store: all of them, with what it has of its own. Raises BadConfig."""
        own = bool(store) and os.path.exists(env_path(self.data, store))
        return Settings.load(self.data, store) if own else self.settings

    def embedder(self, store: str = "") -> "Embedder":
        """Return what links and reconciles, in a store that has an embedder of its own that one. Raises BadConfig."""
        settings = self.settings_of(store)
        if settings is self.settings:
            return self.providers()[3]
        if store not in self._own:
            self._own[store] = self._embedder(settings, self.local())
        return self._own[store]

    def upgrade(self, store: str = "") -> "LocalEmbedder | None":
        """Return what embeds stored memories better than the built-in embedder, None where nothing is to.

        Raises BadConfig, and ProviderMisconfigured where it is not installed.
        """
        if self.settings_of(store)["MEMMAN_EMBED_PROVIDER"] != MINILM:
            return None
        if self._upgrade is None:
            from memman.embed.minilm import MiniLM

            self._upgrade = MiniLM()
        return self._upgrade

    def source(self) -> "Embedder":
        """Return what memories are embedded by beside the built-in embedder, which it may be. Raises as `upgrade`."""
        return self.upgrade() or self.embedder()

    def store(self, name: str) -> "SqliteStore":
        """Open a store for writing, made on first use."""
        if name not in self.stores:
            from memman.queue.emptied import refuse_emptied
            from memman.store.sqlite.store import SqliteStore

            refuse_emptied(self.data, checked(name))
            self.stores[name] = SqliteStore.open(self.data, checked(name))
        return self.stores[name]

    def opened(self, name: str) -> "tuple[SqliteStore, Tools]":
        """Return a store and what the pipeline may use beside it."""
        store = self.store(name)
        return store, self.tools(store.reader, name)

    def tools(self, reader: "Reader", store: str = "") -> "Tools":
        """Return what the pipeline may use beside a store it reads from."""
        from memman.pipeline.plan import Tools

        model, builtin, local, _ = self.providers()
        return Tools(
            model,
            builtin,
            local,
            self.embedder(store),
            reader,
            now_ms,
            providers.capture(self.settings),
            builtin.judge,
            sparing=providers.by_agent(self.settings),
        )

    async def close(self) -> None:
        """Close every connection."""
        for provider in (*(self._providers or ()), *self._own.values(), self._upgrade):
            if provider is not None:
                await provider.close()
        if self._http is not None:
            await self._http.close()
        for store in self.stores.values():
            store.close()


def drain(
    *,
    notes: int | None = None,
    seconds: float | None = None,
    store: str | None = None,
    patient: bool = False,
    handed: int | None = None,
    started: "Callable[[Queue], Callable[[], None]]" = lambda queue: lambda: None,  # noqa: ARG005 - no progress shown
    trace: "Callable[[str, Plan], None]" = lambda stage, plan: None,  # noqa: ARG005 - nobody looks on by default
) -> "Report":
    """Run one drain. Raises SchedulerStopped, and Busy when another holds the lock (`patient`: up to the deadline).

    `handed` is the drain's lock as a write took it for us. `started` is told the queue once the lock is held and
    returns what to call after each note; `trace` hears what each stage made of it.
    """
    data = data_dir()
    claim(data)
    from memman.drain.worklog import Worklog

    deadline = None if seconds is None else time.monotonic() + seconds
    patience = (-1 if seconds is None else seconds) if patient else 0
    with drain_lock(data, patience, handed=handed), Worklog(data) as log:
        from memman.backup.swap import recover
        from memman.drain.failpoint import reach
        from memman.drain.loop import Limits
        from memman.drain.runner import Watch
        from memman.queue.notes import Queue

        refuse_stopped(data, "drain")
        recover(data)
        settings = Settings.load(data)
        log.level = settings["MEMMAN_LOG_LEVEL"]
        queue = Queue(data)
        limits = Limits(_at_once(settings), notes, deadline, store)
        watch = Watch(reach(), log.along(trace), started(queue), log.write)
        try:
            report = _rounds(
                data, queue, limits, lambda: asyncio.run(_drain(queue, data, settings, limits, watch, log))
            )
            beat(data)
        finally:
            queue.close()
        return report


def _at_once(settings: Settings) -> int:
    """Return how many notes are worked on at once: where many share a question, enough for several."""
    said = int(settings["MEMMAN_DRAIN_CONCURRENCY"])
    if not providers.by_agent(settings):
        return said
    from memman.llm.batch import MOST

    return max(said, 4 * MOST)


def _rounds(data: str, queue: "Queue", limits: "Limits", once: "Callable[[], Report]") -> "Report":
    """Drain until nobody rings; one that takes some of the notes only leaves the bell to others."""
    from memman.queue.arrivals import take_up

    if limits.notes is not None or limits.store is not None:
        take_up(data)
        return once()
    silence(data)
    take_up(data)
    report = once()
    while not report.stopped and silence(data) and (take_up(data) or queue.waiting()):
        report.add(once())
    if limits.deadline is not None and time.monotonic() >= limits.deadline and queue.waiting():
        ring(data)
    return report


async def _drain(
    queue: "Queue", data: str, settings: Settings, limits: "Limits", watch: "Watch", log: "Worklog"
) -> "Report":
    from memman.drain.idle import UPGRADING
    from memman.drain.loop import Drain
    from memman.drain.maintenance import maintain
    from memman.drain.worklog import spent
    from memman.queue.ledger import Ledger

    ledger = Ledger(queue.db)
    workshop = Workshop(data, settings, ledger, queue, log.write)
    work = Drain(queue, workshop.opened, limits, watch)
    loop = asyncio.get_running_loop()
    for number in _STOPPING:
        loop.add_signal_handler(number, work.interrupt, f"asked to stop by {number.name}")
    began, before = now_ms(), ledger.totals()
    try:
        log.started(waiting := queue.waiting(limits.store))
        if waiting:
            # Loaded before the first note is claimed: a drain that dies over its imports has tried no note.
            workshop.providers()
            gc.freeze()  # what is loaded stays: looking through it for garbage took a twentieth of a drain
        beating = asyncio.create_task(_beat(data, work))
        try:
            report = await work.run()
        finally:
            beating.cancel()
        _keep(queue, report, began)
        for calls in spent(before, ledger.totals()):
            log.write("provider calls", **calls)
        watch.reach("before:maintenance", None)
        tidying = now_ms()
        await maintain(data, queue, ledger, workshop.stores, workshop.store, workshop.local)
        log.write("maintenance", "debug", ms=now_ms() - tidying, stores=sorted(workshop.stores))
        watch.reach("after:maintenance", None)
        unseen = await _screened(data, queue, workshop, work.stopping)
        left = not report.stopped and await _upgraded(data, workshop, log)
        unjudged = not report.stopped and await _judged(
            data, queue, workshop, work.stopping, log, all_stores=not waiting
        )
        queue.set_meta(UPGRADING, "1" if left or unseen or unjudged else "")
        if not report.stopped:
            _backed_up(data, queue, settings, log)
    finally:
        await workshop.close()
        for number in _STOPPING:  # a loop that closes with handlers in place complains of a signal that comes meanwhile
            loop.remove_signal_handler(number)
    log.ended(report, (now_ms() - began) / 1000)
    return report


async def _screened(data: str, queue: "Queue", workshop: Workshop, stopping: "Callable[[], bool]") -> bool:
    """Look for secrets in what was not screened by today's rules; return whether some of it is left."""
    from memman.drain.idle import PASSED_OVER, unscreened
    from memman.drain.screen import screen

    left, passed_over = await screen(unscreened(data), workshop.store, stopping, lambda: beat(data))
    queue.set_meta(PASSED_OVER, " ".join(passed_over))
    return left


async def _judged(
    data: str, queue: "Queue", workshop: Workshop, stopping: "Callable[[], bool]", log: "Worklog", *, all_stores: bool
) -> bool:
    """Have the judge read the memories it has not, after an upgrade of all stores; return whether some are left.

    Where its files are missing that is left undone: doctor tells of it, and so does every note that needs it.
    """
    from memman.config import stores
    from memman.drain.backfill import judge_all
    from memman.drain.worklog import failure
    from memman.model.errors import ProviderMisconfigured
    from memman.model.vocabulary import JUDGED

    judge = workshop.judge()
    if judge is None:
        queue.set_meta(JUDGED, "")
        return False
    try:
        upgraded = queue.meta(JUDGED) != judge.name
        names = stores.names(data) if upgraded or all_stores else sorted(workshop.stores)
        left = await judge_all(names, workshop.store, judge, stopping, lambda: beat(data))
    except ProviderMisconfigured as error:
        log.write("judging failed", **failure(error))
        return False
    if upgraded and not left:
        queue.set_meta(JUDGED, judge.name)
    return left


async def _upgraded(data: str, workshop: Workshop, log: "Worklog") -> bool:
    """Have stored memories embedded better, where the settings say so; return whether some are left.

    Recall goes on with the vectors it has where that fails.
    """
    from memman.config import stores
    from memman.drain.upgrade import upgrade
    from memman.drain.worklog import failure
    from memman.model.errors import BadConfig, ProviderError

    try:
        sources = {name: source for name in stores.names(data) if (source := workshop.upgrade(name))}
        if not sources:
            return False
        return await upgrade(sources, workshop.store, next(iter(sources.values())), lambda: beat(data))
    except (ProviderError, BadConfig) as error:
        log.write("upgrade failed", **failure(error))
        return False


def _backed_up(data: str, queue: "Queue", settings: Settings, log: "Worklog") -> None:
    """Take a backup where one is due; one that fails is logged, and doctor sees it."""
    from memman.backup.schedule import attempt
    from memman.drain.worklog import failure
    from memman.model.errors import MemmanError

    try:
        made = attempt(data, queue, settings)
    except (MemmanError, OSError) as error:
        log.write("backup failed", **failure(error))
    else:
        if made:
            log.write("backup taken", backup=made.id)
            beat(data)


async def _beat(data: str, work: "Drain") -> None:
    """Let the heart beat while notes are worked on, however long that takes, and end where a person stops drains."""
    while True:
        beat(data)
        if Schedule.load(data).stopped and not work.stop_reason:
            work.interrupt("the scheduler was stopped")
        await asyncio.sleep(1)


def _keep(queue: "Queue", report: "Report", began: int) -> None:
    """Remember what this drain did, for `memman status`."""
    import json
    from dataclasses import asdict

    record = {"at": began, "seconds": (now_ms() - began) / 1000} | asdict(report)
    queue.set_meta("last_drain", json.dumps(record, ensure_ascii=False))
