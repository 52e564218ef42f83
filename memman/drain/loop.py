"""The drain itself: notes in flight, up to so many at once, until the queue is empty or it is time to stop."""

import asyncio
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass

import apsw

from memman.drain.consequences import consequence
from memman.drain.health import Health
from memman.drain.report import Report
from memman.drain.runner import Stopped, Watch, run_note
from memman.drain.store_queue import InFlight, StoreQueue
from memman.drain.worklog import failure
from memman.model.errors import MemmanError
from memman.model.records import Note
from memman.pipeline.plan import Outcome, Tools
from memman.queue.ledger import WORKED_FOR, Journal
from memman.queue.notes import Queue
from memman.secrets import screened
from memman.sqlite import translated
from memman.store.sqlite.store import SqliteStore

# Seconds past its deadline in which a drain may finish the calls it has begun.
GRACE = 5.0
# Seconds that notes in flight have to come to their next stage boundary once somebody asked the drain to end.
NOTICE = 1.0


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one drain may do: `concurrency` notes at once, `notes` in all, until `deadline` (monotonic seconds).

    Turns of the conversations that `talks` names, as 'agent session', are left for later.
    """

    concurrency: int = 16
    notes: int | None = None
    deadline: float | None = None
    store: str | None = None
    talks: Callable[[], Collection[str]] = tuple


class Drain:
    """One pass. The caller holds the drain lock."""

    def __init__(
        self,
        queue: Queue,
        opened: Callable[[str], tuple[SqliteStore, Tools]],
        limits: Limits,
        watch: Watch,
    ) -> None:
        self.queue, self.opened, self.limits, self.watch = queue, opened, limits, watch
        self.report = Report()
        self.health = Health(queue, watch.tell)
        self.journal = Journal(queue.db)
        self.queues: dict[str, StoreQueue] = {}
        self.shut: set[str] = set()
        self.running: set[asyncio.Task[None]] = set()
        self.stop_reason = ""
        self.last_error: Exception | None = None
        # Notes that were in flight when a drain died, by uid, and their stores.
        self.suspects: dict[str, str] = {}

    def stop(self, reason: str) -> None:
        """Start no further note; notes in flight end at their next stage boundary."""
        self.stop_reason = self.stop_reason or reason

    def interrupt(self, reason: str) -> None:
        """Stop because somebody asked: NOTICE later, or asked again, give up what is in flight amid its calls."""
        if self.stop_reason:
            self._abandon()
        else:
            asyncio.get_running_loop().call_later(NOTICE, self._abandon)
        self.stop(reason)

    def _abandon(self) -> None:
        for task in self.running:
            task.cancel()

    async def run(self) -> Report:
        """Drain until there is nothing left to do."""
        self.report.rescued = self.queue.rescue()
        self.report.parked = self.queue.park_spent()
        self.suspects = self.queue.suspects()
        started = 0
        while True:
            while len(self.running) < self._room() and not self._closing(started):
                talks = self.limits.talks()
                note = self.queue.claim(self.limits.store, self.shut, talks, probe=self.health.probing)
                if note is None:
                    break
                started += 1
                self.watch.reach("claimed", note)
                store_queue = self.queues.setdefault(note.store, StoreQueue())
                self.running.add(asyncio.create_task(self._note(store_queue, store_queue.enter(note))))
            if not self.running:
                break
            landed, self.running = await asyncio.wait(
                self.running, timeout=self._patience(), return_when=asyncio.FIRST_COMPLETED
            )
            if not landed:
                self._abandon()
            for task in landed:
                task.result()
        self.report.stopped = self.stop_reason
        return self.report

    def _room(self) -> int:
        # As long as a suspect waits notes go one by one, so that one that kills us is alone.
        suspected = any(store not in self.shut for store in self.suspects.values())
        return 1 if self.health.probing or suspected else self.limits.concurrency

    def _patience(self) -> float | None:
        """Return the seconds until what is still in flight is given up."""
        deadline = self.limits.deadline
        return None if deadline is None else max(0.0, deadline + GRACE - time.monotonic())

    def _closing(self, started: int) -> bool:
        limits = self.limits
        if limits.deadline is not None and time.monotonic() >= limits.deadline:
            self.stop("deadline reached")
        if self.health.open:
            self.stop("the provider is unavailable; the next drain tries again")
        return bool(self.stop_reason) or (limits.notes is not None and started >= limits.notes)

    def stopping(self) -> bool:
        """Whether somebody asked this drain to end, or it is time to."""
        return bool(self.stop_reason)

    async def _note(self, store_queue: StoreQueue, flight: InFlight) -> None:
        note, began = flight.note, time.monotonic()
        WORKED_FOR.set(note.provenance.repository)
        try:
            store, tools = self.opened(note.store)
            plan = await run_note(flight, store_queue, tools, store, self.journal, self.stopping, self.watch)
            self.watch.reach("committed", note)
            if plan.unnoted:
                self.watch.remind(note, plan.unnoted)
            self.queue.done(note.uid)
            self.watch.reach("acknowledged", note)
            self.report.landed(outcome := plan.outcome or Outcome())
            self._say("note done", note, began, added=len(outcome.added), superseded=outcome.superseded)
            self.health.served()
        except (Stopped, asyncio.CancelledError):
            with suppress(MemmanError):  # what cannot be written now, the next drain rescues
                self.queue.release(note.uid)
        except Exception as error:  # noqa: BLE001 - whatever a note runs into, the others go on
            error = translated(error, f"store {note.store!r}") if isinstance(error, apsw.Error) else error
            became = self._give_back(note, error)
            self._say(became, note, began, **failure(error))
        finally:
            self.suspects.pop(note.uid, None)
            store_queue.leave(flight)
            self.watch.progress()

    def _say(self, event: str, note: Note, began: float, **fields: object) -> None:
        ms = round((time.monotonic() - began) * 1000)
        self.watch.tell(event, note=note.uid, store=note.store, ms=ms, **fields)

    def _give_back(self, note: Note, error: Exception) -> str:
        """Give the note back as its failure asks, and say what became of it; else the next drain rescues it."""
        try:
            return self._failed(note, error)
        except MemmanError as worse:
            self.report.trouble(worse)
            self.stop(str(worse))
            return "note left running"

    def _failed(self, note: Note, error: Exception) -> str:
        cost = consequence(error)
        self.report.trouble(error, of_note=cost.spends)
        if cost.spends:
            self.report.failed += 1
            parked = self.queue.fail(note.uid, screened(f"{type(error).__name__}: {error}")[:500])
            self.report.parked += parked
            self.health.learned_nothing()
            return "note parked" if parked else "note failed"
        self.report.deferred += 1
        said = str(error) or type(error).__name__
        if cost.waits:
            self.queue.defer(note.uid, screened(said)[:500])
        else:
            self.queue.release(note.uid, screened(said)[:500])
        if cost.ails and error is not self.last_error:  # notes of one conversation fail by one call
            self.health.failed(said[:200])
        self.last_error = error
        if cost.shuts:
            self.shut.add(note.store)
        if cost.stops:
            self.stop(said)
        return "note deferred"
