"""Whether somebody starts drains, and whether they may run."""

import os
import time
from collections.abc import Iterator

from memman.config.launcher import launcher_path
from memman.config.schedule import INTERVAL, KINDS, MISSED, Schedule, schedule_path
from memman.doctor.finding import Context, Finding, fail, ok, warn
from memman.drain.lock import held
from memman.scheduler import files, serve
from memman.scheduler.adapter import ADAPTERS
from memman.scheduler.report import last_run

_INSTALL = "memman scheduler install"


def check(context: Context) -> Iterator[Finding]:
    """Look who starts drains, and whether they may."""
    schedule = Schedule.load(context.data)
    if schedule.stopped:
        yield warn("stopped: memory is only read", "memman scheduler start")
    elif schedule.kind not in ("", *KINDS):
        says = f"{schedule_path(context.data)} names {schedule.kind[:40]!a}, which starts no drains"
        yield fail(says, _INSTALL)
    elif schedule.kind == serve.KIND:
        yield _served(context.data)
    elif schedule.kind:
        yield ok(f"{schedule.kind}, on every note and each {schedule.interval} s")
    elif laid := _laid(context.data):
        yield fail(f"{schedule_path(context.data)} does not say that {laid} starts drains", _INSTALL)
    elif _recent(context.data):
        yield ok("a drain ran just now, started by hand or by cron")
    else:
        hint = "where neither systemd nor launchd answers it says what to do instead"
        yield warn("nobody starts drains yet", "memman install", hint)


def _laid(data: str) -> str:
    """Name the service manager that has units of ours for this data folder."""
    for adapter in ADAPTERS:
        folder = adapter.folder()
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if "memman" in name and launcher_path(data) in (files.held(f"{folder}/{name}") or ""):
                return adapter.KIND
    return ""


def _served(data: str) -> Finding:
    if held(data, "serve.lock"):
        return ok("`memman scheduler serve` runs")
    return warn(
        "`memman scheduler serve` does not run here", hint="start it where it belongs, in the container for one"
    )


def _recent(data: str) -> bool:
    last = last_run(data)
    return last is not None and time.time() - last / 1000 < MISSED * INTERVAL
