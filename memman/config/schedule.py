"""Who starts drains and whether they may run: a small file, a doorbell and a heartbeat. Safe on the hot path.

`remember` makes the file that a path unit waits for; a drain removes it before it looks at the queue.
"""

import os
import time

from memman.config.places import make_file, read_file, write_file

INTERVAL = 60  # seconds between two drains that nobody rang for
LONGEST = 86_400  # seconds that the interval may be
MISSED = 3  # intervals without a drain that are worth a word
SERVE, WRITE, NOBODY = "serve", "write", "nobody"
MANAGERS = ("systemd", "launchd")
STARTERS = (*MANAGERS, SERVE, WRITE, NOBODY)
# Of which no interval is kept.
UNTIMED = ("", WRITE, NOBODY)


def schedule_path(data: str) -> str:
    """Return the path of the file that says who starts drains, how often, and whether they may run."""
    return data + "/schedule"


def bell_path(data: str) -> str:
    """Return the path of the doorbell: it is there while somebody waits for a drain."""
    return data + "/doorbell"


def heartbeat_path(data: str) -> str:
    """Return the path of the empty file whose modification time is when a drain last got on or ended."""
    return data + "/heartbeat"


class Schedule:
    """What the schedule file says: `kind` is '' where writes start drains."""

    __slots__ = ("interval", "kind", "stopped")

    def __init__(self, kind: str = "", interval: int = INTERVAL, *, stopped: bool = False) -> None:
        self.kind = kind
        self.interval = interval
        self.stopped = stopped

    @property
    def timed(self) -> bool:
        """Whether drains start at an interval, too."""
        return self.kind not in UNTIMED

    @classmethod
    def load(cls, data: str) -> "Schedule":
        """Read the file; what is not there, or not readable as it should be, has its default."""
        said = dict(line.split("=", 1) for line in read_file(schedule_path(data)).splitlines() if "=" in line)
        return cls(
            kind if (kind := said.get("kind")) in STARTERS else "",
            _interval(said.get("interval", "")),
            stopped=said.get("state") == "stopped",
        )

    def save(self, data: str) -> None:
        """Write the file. Raises CannotWrite."""
        state = "stopped" if self.stopped else "started"
        write_file(schedule_path(data), f"kind={self.kind}\ninterval={self.interval}\nstate={state}\n")


def _interval(said: str) -> int:
    whole = said.isascii() and said.isdigit() and len(said) <= len(str(LONGEST))
    return int(said) if whole and 1 <= int(said) <= LONGEST else INTERVAL


def refuse_stopped(data: str, verb: str) -> None:
    """Raise SchedulerStopped where the scheduler is stopped: memory is then only read."""
    if Schedule.load(data).stopped:
        from memman.model.errors import SchedulerStopped

        raise SchedulerStopped(f"cannot {verb}: the scheduler is stopped; start it with `memman scheduler start`")


def ring(data: str) -> None:
    """Ask for a drain. May fail silently: the note is on disk, and the timer comes round."""
    try:
        make_file(bell_path(data))
    except OSError:
        return


def silence(data: str) -> bool:
    """Stop the bell, be it an empty folder; whether it rang and could be stopped."""
    for remove in (os.unlink, os.rmdir):
        try:
            remove(bell_path(data))
        except OSError:
            continue
        return True
    return False


def beat(data: str) -> None:
    """Record that a drain gets on, or has ended, just now. May fail silently."""
    try:
        make_file(heartbeat_path(data))
        os.utime(heartbeat_path(data))
    except OSError:
        return


def overdue(data: str) -> int | None:
    """Return the seconds that drains are late by more than MISSED intervals, or a write's drain since the bell rang.

    None where they are on time, stopped, or nobody was set up to start them.
    """
    schedule = Schedule.load(data)
    if schedule.kind in ("", NOBODY) or schedule.stopped:
        return None
    if not schedule.timed and not os.path.lexists(bell_path(data)):
        return None
    now, times = time.time(), []
    for path in (heartbeat_path(data), schedule_path(data) if schedule.timed else bell_path(data)):
        try:
            times.append(os.stat(path).st_mtime)
        except OSError:
            continue
    times = [then for then in times if then <= now + schedule.interval]
    passed = int(now - max(times)) if times else 0
    return passed if passed > MISSED * schedule.interval else None
