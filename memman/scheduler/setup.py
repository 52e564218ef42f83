"""Installing and removing what starts drains."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from memman.config.drain_by_write import SERVE_LOCK
from memman.config.launcher import launcher_path, lay
from memman.config.lockfile import held
from memman.config.schedule import NOBODY, SERVE, WRITE, Schedule
from memman.locks import alone
from memman.model.errors import NoScheduler
from memman.scheduler.adapter import ADAPTERS, Adapter, answering, elsewhere, left_alone

_PATIENCE = 20.0  # seconds; a change is some orders to a service manager
_BUSY = "another `memman scheduler` command is running; try again"


@contextmanager
def changing(data: str) -> Iterator[Schedule]:
    """Give the schedule to change, and to save before anybody hears of it. Raises Busy."""
    with alone(data, "schedule.lock", _BUSY, _PATIENCE):
        yield Schedule.load(data)


_SILENT = "neither systemd nor launchd answers here"
_WRITES = "each write starts a drain in the background, which exits when done"


def plan(data: str) -> list[str]:
    """Say what `install` would do."""
    adapter = answering()
    lines = [f"write the launcher {launcher_path(data)}"]
    if adapter is None:
        return lines + _without(data, _SILENT)
    files = ", ".join(adapter.rendered(data))
    return [
        *lines,
        *_displaced(data, adapter),
        f"write {files} to {adapter.folder()} and have {adapter.KIND} start drains",
    ]


def install(data: str) -> list[str]:
    """Lay the launcher down, have whoever answers here start drains, and return what to tell the user."""
    lay(data)
    adapter = answering()
    try:
        return _installed(data, adapter) if adapter else _by_writes(data, _SILENT)
    except NoScheduler as error:
        return _by_writes(data, str(error))


def uninstall(data: str) -> list[str]:
    """Remove whatever starts drains for this data folder; return what to tell the user. Memory stays as it is."""
    lines = [line for adapter in ADAPTERS for line in _removed(data, adapter)]
    if os.path.isdir(data) and Schedule.load(data).kind != NOBODY:
        with changing(data) as schedule:
            schedule.kind, schedule.lingering = NOBODY, False
            schedule.save(data)
    return lines


def _removed(data: str, adapter: Adapter) -> list[str]:
    try:
        owner = elsewhere(adapter, data)
    except NoScheduler:  # it is told to unload what it has, and may not answer; the files go
        owner = ""
    return [left_alone(adapter, owner)] if owner else adapter.uninstall(data)


def _displaced(data: str, adapter: Adapter) -> list[str]:
    owner = elsewhere(adapter, data)
    return [f"this takes over from {owner}, whose drains will no longer be started"] if owner else []


def _installed(data: str, adapter: Adapter) -> list[str]:
    with changing(data):
        lines = _displaced(data, adapter) + adapter.install(data)
        schedule = Schedule.load(data)
        schedule.kind = adapter.KIND
        schedule.save(data)
    if schedule.stopped:
        lines.append("the scheduler stays stopped until `memman scheduler start`")
    return lines


def _by_writes(data: str, why: str) -> list[str]:
    """Let writes start drains, unless the loop does."""
    if not _served(data):
        with changing(data) as schedule:
            schedule.kind = WRITE
            schedule.save(data)
    return _without(data, why)


def _without(data: str, why: str) -> list[str]:
    if _served(data):
        return ["drains are started by `memman scheduler serve`"]
    return [f"{why}: {_WRITES}"]


def _served(data: str) -> bool:
    return Schedule.load(data).kind == SERVE and held(f"{data}/{SERVE_LOCK}")
