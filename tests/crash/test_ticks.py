"""Drains come on time, after a pause once, and that none comes is said."""

import os
import signal
import time

import pytest

from memman.config import schedule
from memman.config.schedule import Schedule
from tests.support.box import PATIENCE, wait_until

# Seconds that a tick may be late on a quiet machine, which the long form is run on.
LATE = 2.0


class Ticks:
    """The times at which drains have ended, as their heartbeats tell."""

    def __init__(self, box):
        self.path = schedule.heartbeat_path(str(box.data))

    def last(self):
        """Return when a drain last ended, 0 for never."""
        return os.stat(self.path).st_mtime if os.path.exists(self.path) else 0.0

    def after(self, then):
        """Wait for the next tick and return its time."""
        wait_until(lambda: self.last() > then)
        return self.last()


@pytest.mark.slow
@pytest.mark.promise("R13")
def test_ticks_come_on_time_and_once_after_a_pause(box, rounds, kept):
    """With nothing to do each tick comes when the interval is over; a loop that was held up makes up for it once."""
    count, interval = rounds(4, 20), rounds(1, 5)
    loop = box.start(box.script, "scheduler", "serve", "--interval", str(interval))
    ticks = Ticks(box)
    try:
        then, late = ticks.after(0.0), []
        ticks.after(then)
        then = ticks.last()
        for _ in range(count):
            now = ticks.after(then)
            late.append(now - then - interval)
            then = now
        loop.send_signal(signal.SIGSTOP)
        time.sleep(4 * interval)
        held = ticks.last()
        loop.send_signal(signal.SIGCONT)
        resumed = time.time()
        caught = ticks.after(held) - resumed
        first = ticks.last()
        again = ticks.after(first) - first
    finally:
        loop.send_signal(signal.SIGCONT)
        loop.terminate()
        loop.communicate(timeout=PATIENCE)
    assert not rounds(False, True) or (max(late) <= LATE and caught <= interval + LATE)
    assert again > interval / 2, "one run makes up for a pause, not one for each tick that was missed"
    kept(
        f"{count} ticks each {interval} s: {max(late):.2f} s late at most; "
        f"after a pause of {4 * interval} s one run within {caught:.2f} s"
    )


@pytest.mark.promise("R13")
def test_recall_and_doctor_say_that_no_drain_comes(box, kept):
    """From three intervals without a drain on, recall says so in a line, and doctor warns, later fails."""
    box.remember("The heron nests by the river.")
    box.drain()
    data, seen = str(box.data), {}
    Schedule("serve", 60).save(data)
    for intervals in (1, 2, 4, 70):
        then = time.time() - 60 * intervals
        for path in (schedule.heartbeat_path(data), schedule.schedule_path(data)):
            os.utime(path, (then, then))
        recall = box.memman("recall", "heron")
        assert "heron" in recall.stdout
        doctor = box.memman("doctor", "--check", "drains")
        told = recall.stderr.count("notes have not been processed for")
        seen[intervals] = told, doctor.stdout.split()[0], doctor.returncode
    assert seen == {1: (0, "ok", 0), 2: (0, "ok", 0), 4: (1, "warn", 0), 70: (1, "FAIL", 1)}
    kept(f"{sum(not said for said, *_ in seen.values())} of {len(seen)} ages of the last drain silent, the rest said")
