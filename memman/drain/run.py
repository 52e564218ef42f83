"""One drain from its lock to its report: rounds over the queue, signals, the heartbeat."""

import asyncio
import gc
import json
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from dataclasses import asdict
from functools import partial
from secrets import token_hex

from memman.clock import now_ms
from memman.config.env import Settings
from memman.config.lockfile import FOREVER
from memman.config.places import data_dir, ensure_safe_folder, store_path
from memman.config.schedule import Schedule, beat, refuse_stopped, ring, silence
from memman.config.shown import session_ended
from memman.drain.failpoint import reach
from memman.drain.loop import Drain, Limits
from memman.drain.report import Report
from memman.drain.runner import Watch
from memman.drain.stores import Stores
from memman.drain.worklog import Worklog, failure
from memman.locks import drain_lock
from memman.model.errors import MemmanError, NotSetUp
from memman.model.records import Note
from memman.model.vocabulary import BUILTIN
from memman.providers.chosen import by_agent, llm_provider
from memman.providers.pool import Providers
from memman.queue.ledger import Ledger
from memman.queue.notes import MOST, TOGETHER, Queue, going_on
from memman.queue.untold import leave
from memman.sqlite import TranslatedErrors
from memman.store.reach import address, connected, missed, only_read, only_readable

# Bytes of a drain's name.
_NAME_BYTES = 6
_BUSY = "another drain is already running and will process these notes"
_STOPPING = (signal.SIGTERM, signal.SIGINT)


def drain(
    *,
    notes: int | None = None,
    seconds: float | None = None,
    store: str | None = None,
    patient: bool = False,
    handed: int | None = None,
    attended: bool = True,
    started: Callable[[Queue], Callable[[], None]] = lambda queue: lambda: None,  # noqa: ARG005 - no progress shown
) -> Report:
    """Run one drain. Raises SchedulerStopped, and Busy when another holds the lock (`patient`: up to the deadline).

    `handed` is the drain's lock as a write took it for us. Where nobody waits for it (not `attended`) it leaves
    conversations that go on for later, if a model reads them. `started` is told the queue once the lock is held and
    returns what to call after each note.
    """
    data = data_dir()
    ensure_safe_folder(data)
    deadline = None if seconds is None else time.monotonic() + seconds
    patience = (FOREVER if seconds is None else seconds) if patient else 0
    with drain_lock(data, patience, handed=handed, busy=_BUSY), Worklog(data) as log:
        refuse_stopped(data, "drain")
        settings = Settings.load(data)
        log.level = settings["MEMMAN_LOG_LEVEL"]
        queue = Queue(data)
        together = llm_provider(settings) != BUILTIN
        queue.set_meta(TOGETHER, "on" if together else "")
        talks = partial(going_on, queue.db, data) if together and not attended else tuple
        limits = Limits(_at_once(settings), notes, deadline, store, talks)
        watch = Watch(reach(), log.stage, started(queue), log.write, partial(_remind, data, settings, queue))
        try:
            once = partial(_round, queue, data, settings, limits, watch, log, token_hex(_NAME_BYTES))
            take_up = partial(_taken_up, data, queue, settings, log)
            report = _rounds(data, queue, limits, lambda: asyncio.run(once()), take_up)
            beat(data)
        finally:
            queue.close()
        return report


def _remind(data: str, settings: Settings, queue: Queue, note: Note, text: str) -> None:
    """Leave for the session's next prompt what the agent might have noted; where none comes, it is judged as a turn."""
    agent, session = note.provenance.agent, note.provenance.session
    tell = settings["MEMMAN_NUDGE"] == "on" and not session_ended(data, agent, session)
    with TranslatedErrors(queue.path):
        leave(queue.db, data, note.uid, text, now_ms(), tell=(agent, session) if tell else None)


def _at_once(settings: Settings) -> int:
    """Return how many notes are worked on at once: where many share a question, enough for several."""
    said = int(settings["MEMMAN_DRAIN_CONCURRENCY"])
    return max(said, 4 * MOST) if by_agent(settings) else said


def _taken_up(data: str, queue: Queue, settings: Settings, log: Worklog) -> int:
    """Queue what hooks left, and what tool events teach where a person wants that; return how many notes it is."""
    from memman.queue.arrivals import take_up

    taken = take_up(data)
    if settings["MEMMAN_LESSONS"] == "on":
        from memman.drain.lessons import learn

        taken += learn(data, queue, log)
    return taken


def _rounds(data: str, queue: Queue, limits: Limits, once: Callable[[], Report], take_up: Callable[[], int]) -> Report:
    """Drain until no write asks for another round; a drain of only some of the notes leaves the requests to others."""
    if limits.notes is not None or limits.store is not None:
        take_up()
        return once()
    silence(data)
    take_up()
    report = once()
    while not report.stopped and silence(data) and (take_up() or queue.waiting()):
        report.add(once())
    if limits.deadline is not None and time.monotonic() >= limits.deadline and queue.waiting():
        ring(data)
    return report


async def _round(
    queue: Queue, data: str, settings: Settings, limits: Limits, watch: Watch, log: Worklog, drain: str
) -> Report:
    """Work on the notes that wait, then on what no note asked for."""
    from memman.drain.upkeep import Upkeep

    stores = Stores(Providers(data, settings, Ledger(queue.db), queue, log.write), drain)
    work = Drain(queue, stores.equipped, limits, watch)
    loop = asyncio.get_running_loop()
    for number in _STOPPING:
        loop.add_signal_handler(number, work.interrupt, f"asked to stop by {number.name}")
    began = now_ms()
    try:
        log.started(waiting := queue.waiting(limits.store))
        _shut(work, stores, queue, failed := await _exchanged(data, stores, work, log, connected(data)))
        if waiting:
            # Loaded before the first note is claimed: a drain that dies over its imports has tried no note.
            stores.providers.load()
            gc.freeze()  # what is loaded stays: looking through it for garbage took a twentieth of a drain
        beating = asyncio.create_task(_beat(data, work))
        try:
            report = await work.run()
        finally:
            beating.cancel()
        _keep(queue, report, began)
        if report.done:
            again = [name for name in connected(data) if name in stores.opened and name not in failed]
            for error in (await _exchanged(data, stores, work, log, again)).values():
                report.trouble(error)
        await Upkeep(data, queue, stores, work.stopping, log).run(watch.reach, everywhere=not waiting)
    finally:
        await stores.close()
        for number in _STOPPING:  # a loop that closes with handlers in place complains of a signal that comes meanwhile
            loop.remove_signal_handler(number)
    log.ended(report, (now_ms() - began) / 1000)
    return report


async def _exchanged(
    data: str, stores: Stores, work: Drain, log: Worklog, names: Iterable[str]
) -> dict[str, MemmanError]:
    """Tell servers what was done here, and bring in what others did; return what is in the way of which store."""
    failed: dict[str, MemmanError] = {}
    for name in names:
        path = store_path(data, name)
        cause: Callable[[MemmanError], str] = str
        try:
            from memman.store.postgres.server import Server
            from memman.sync.turn import turn_by_server

            with closing(Server(address(data, name))) as server:
                cause = server.cause
                store = stores.here(name)
                tools = stores.tools(store.reader, name)
                if came := await turn_by_server(store, data, name, server, tools, work.stopping):
                    log.write("exchanged", store=name, records=came)
        except MemmanError as error:
            failed[name] = error if cause is not str else NotSetUp(f"{error} (store {name!r})")
            missed(path, cause(error))
            log.write("exchange failed", store=name, **failure(error))
        if only_read(path):
            stores.shut[name] = only_readable(name)
    return failed


def _shut(work: Drain, stores: Stores, queue: Queue, failed: Mapping[str, MemmanError]) -> None:
    """Leave the notes of stores that we may only read where they are.

    Say so where there are some, and what is in the way of a server; but not to who drains another store.
    """
    work.shut.update(stores.shut)
    waiting = {name: error for name, error in stores.shut.items() if queue.waiting(name)}
    for name, error in {**waiting, **failed}.items():
        if work.limits.store in {None, name}:
            work.report.trouble(error)


async def _beat(data: str, work: Drain) -> None:
    """Let the heart beat while notes are worked on, however long that takes, and end where a person stops drains."""
    while True:
        beat(data)
        if Schedule.load(data).stopped and not work.stop_reason:
            work.interrupt("the scheduler was stopped")
        await asyncio.sleep(1)


def _keep(queue: Queue, report: Report, began: int) -> None:
    """Remember what this drain did, for `memman status`."""
    record = {"at": began, "seconds": (now_ms() - began) / 1000} | asdict(report)
    queue.set_meta("last_drain", json.dumps(record, ensure_ascii=False))
