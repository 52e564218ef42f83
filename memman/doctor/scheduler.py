"""Whether somebody starts drains, and whether they may run."""

import time
from collections.abc import Iterator

from memman.config.schedule import INTERVAL, MISSED, Schedule
from memman.doctor.finding import Context, Finding, ok, warn
from memman.scheduler import serve
from memman.scheduler.report import last_run


def check(context: Context) -> Iterator[Finding]:
    """Look who starts drains, and whether they may."""
    schedule = Schedule.load(context.data)
    if schedule.stopped:
        yield warn("stopped: memory is only read", "memman scheduler start")
    elif schedule.kind == serve.KIND:
        yield _served(context.data)
    elif schedule.kind:
        yield ok(f"{schedule.kind}, on every note and each {schedule.interval} s")
    elif _recent(context.data):
        yield ok("a drain ran just now, started by hand or by cron")
    else:
        hint = "where neither systemd nor launchd answers it says what to do instead"
        yield warn("nobody starts drains yet", "memman install", hint)


def _served(data: str) -> Finding:
    if serve.health(data)["well"]:
        return ok("`memman scheduler serve` runs")
    return warn(
        "`memman scheduler serve` does not run here", hint="start it where it belongs, in the container for one"
    )


def _recent(data: str) -> bool:
    last = last_run(data)
    return last is not None and time.time() - last / 1000 < MISSED * INTERVAL
