"""Who starts drains and whether they may run: a small file, a doorbell and a heartbeat. Safe on the hot path.

`remember` rings the doorbell: it makes a file that a path unit waits for. A
drain silences it before it looks at the queue, so a note that comes later
leaves the bell ringing when the drain ends, and the next drain starts at once.
"""

import os
import time

from memman.config.places import make_file, read_file, write_file

INTERVAL = 60  # seconds between two drains that nobody rang for
MISSED = 3  # intervals without a drain that are worth a word
KINDS = ("systemd", "launchd", "serve")


def schedule_path(data: str) -> str:
    """Return the path of the file that says who starts drains, how often, and whether they may run."""
    return data + "/schedule"


def bell_path(data: str) -> str:
    """Return the path of the doorbell: it is there while somebody waits for a drain."""
    return data + "/doorbell"


def heartbeat_path(data: str) -> str:
    """Return the path of the empty file whose modification time is when the last drain ended."""
    return data + "/heartbeat"


class Schedule:
    """What the schedule file says. `kind` is one of KINDS, or '' where nothing was installed."""

    __slots__ = ("interval", "kind", "stopped")

    def __init__(self, kind: str = "", interval: int = INTERVAL, *, stopped: bool = False) -> None:
        self.kind = kind
        self.interval = interval
        self.stopped = stopped

    @classmethod
    def load(cls, data: str) -> "Schedule":
        """Read the file; what is not there, or not readable as it should be, has its default."""
        said = dict(line.split("=", 1) for line in read_file(schedule_path(data)).splitlines() if "=" in line)
        interval = said.get("interval", "")
        return cls(
            said.get("kind", ""),
            int(interval) if interval.isascii() and interval.isdigit() else INTERVAL,
            stopped=said.get("state") == "stopped",
        )

    def save(self, data: str) -> None:
        """Write the file. Raises CannotWrite."""
        state = "stopped" if self.stopped else "started"
        write_file(schedule_path(data), f"kind={self.kind}\ninterval={self.interval}\nstate={state}\n")


def refuse_stopped(data: str, verb: str) -> None:
    """Raise SchedulerStopped where the scheduler is stopped: memory is then only read."""
    if Schedule.load(data).stopped:
        from memman.model.errors import SchedulerStopped

        raise SchedulerStopped(f"Scheduler is stopped; cannot {verb} (start it with `memman scheduler start`)")


def ring(data: str) -> None:
    """Ask for a drain. May fail silently: the note is on disk, and the timer comes round."""
    try:
        make_file(bell_path(data))
    except OSError:
        return


def silence(data: str) -> bool:
    """Stop the bell; whether it rang."""
    try:
        os.unlink(bell_path(data))
    except OSError:
        return False
    return True


def beat(data: str) -> None:
    """Record that a drain has ended just now. May fail silently."""
    try:
        make_file(heartbeat_path(data))
        os.utime(heartbeat_path(data))
    except OSError:
        return


def overdue(data: str) -> int | None:
    """Return the seconds since the last drain (or the installation) where that is more than MISSED intervals.

    None where drains are on time, stopped, or nobody was set up to start them.
    """
    schedule = Schedule.load(data)
    if not schedule.kind or schedule.stopped:
        return None
    times = []
    for path in (heartbeat_path(data), schedule_path(data)):
        try:
            times.append(os.stat(path).st_mtime)
        except OSError:
            continue
    passed = int(time.time() - max(times)) if times else 0
    return passed if passed > MISSED * schedule.interval else None
