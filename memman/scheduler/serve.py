"""The loop in the foreground, for containers, also as process 1: drains when the bell rings and at an interval."""

import os
import signal
import sys
import time
from contextlib import suppress

from memman.config.drain_by_write import SERVE_LOCK
from memman.config.launcher import program
from memman.config.places import ensure_safe_folder
from memman.config.schedule import SERVE, Schedule, bell_path, silence
from memman.locks import alone
from memman.model.errors import MemmanError
from memman.scheduler.control import changing

# Seconds between two looks: the bell is a file, and a signal or a child's end is noticed by the next look.
POLL = 0.1
REST = 1.0  # seconds after which a bell that cannot be silenced is heard again
# Seconds after it was asked to stop at which a drain is told so, told to give up what is in flight, and killed.
PRESSURE = ((0.0, signal.SIGTERM), (0.8, signal.SIGTERM), (1.5, signal.SIGKILL))
_DRAIN = ("scheduler", "drain", "--wait", "--deadline", "240")
_BUSY = "another `memman scheduler serve` is already running for this data folder"


def serve(data: str, interval: int | None = None) -> None:
    """Start drains until SIGTERM or SIGINT, also in a data folder made anew. Raises Busy and UnsafePlace."""
    ensure_safe_folder(data)
    asked = heard()
    while not asked:
        with alone(data, SERVE_LOCK, _BUSY, patience=1):  # longer than a look at its health takes
            with changing(data) as schedule:
                schedule.interval = interval or schedule.interval
                schedule.kind = schedule.kind if schedule.timed else SERVE
                schedule.save(data)
            Loop(data, asked).run()


def heard() -> list[int]:
    """Return a list that comes to hold each signal that asks this process to stop."""
    asked: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda number, _: asked.append(number))
    return asked


class Loop:
    """Looks at the bell, the clock and the children until it is asked to stop, or its lock is not there any more."""

    def __init__(self, data: str, asked: list[int]) -> None:
        self.data, self.asked = data, asked
        self.command = (program(), *_DRAIN)
        self.child = 0
        self.due = self.deaf = 0.0
        self.warned = False
        self.lock = _lock(data)
        self.trouble = ""

    def run(self) -> None:
        """Serve until the end, then end the drain that runs."""
        try:
            while not self.asked and _lock(self.data) == self.lock:
                self._look()
                time.sleep(POLL)
                self._reap()
        finally:
            self._end()

    def _schedule(self) -> Schedule:
        """Read the schedule; where it cannot be read, say so once, and go on as usual."""
        try:
            schedule, trouble = Schedule.load(self.data), ""
        except MemmanError as error:
            schedule, trouble = Schedule(), str(error)
        if trouble and not self.trouble:
            sys.stderr.write(f"memman: {trouble}\n")
        self.trouble = trouble
        return schedule

    def _rings(self) -> bool:
        return time.monotonic() >= self.deaf and os.path.lexists(bell_path(self.data))

    def _look(self) -> None:
        schedule = self._schedule()
        if self.child:
            if schedule.stopped and not self.warned:
                self.warned = True
                os.kill(self.child, signal.SIGTERM)
        elif not schedule.stopped and (time.monotonic() >= self.due or self._rings()):
            self._drain(schedule.interval)

    def _drain(self, interval: int) -> None:
        # Silenced here too, so that a drain that cannot even start is not started again and again.
        silence(self.data)
        self.deaf = time.monotonic() + REST if os.path.lexists(bell_path(self.data)) else 0.0
        self.warned = False
        # A group of its own: what a terminal sends, we forward.
        self.due = time.monotonic() + interval
        try:
            self.child = os.posix_spawn(self.command[0], self.command, os.environ, setpgroup=0)
        except OSError as error:  # amid an upgrade; the next time it may be there again
            sys.stderr.write(f"memman: {self.command[0]} could not be started: {error.strerror}\n")

    def _reap(self) -> None:
        """Take leave of every process that has ended, ours or one that a first process inherits."""
        with suppress(ChildProcessError):
            while ended := os.waitpid(-1, os.WNOHANG)[0]:
                if ended == self.child:
                    self.child = 0

    def _end(self) -> None:
        began = time.monotonic()
        for after, number in PRESSURE:
            while self.child and not self.asked[1:] and time.monotonic() < began + after:
                time.sleep(POLL)
                self._reap()
            if self.child:
                os.kill(self.child, signal.SIGKILL if self.asked[1:] else number)
        while self.child:
            time.sleep(POLL)
            self._reap()


def _lock(data: str) -> tuple[int, int] | None:
    """Return which file the lock is, None where there is none."""
    try:
        status = os.stat(f"{data}/{SERVE_LOCK}")
    except OSError:
        return None
    return status.st_dev, status.st_ino
