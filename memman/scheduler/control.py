"""Installing, removing, starting, stopping and asking whoever starts drains here."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from memman.config.command import launcher_path
from memman.config.drain_by_write import SERVE_LOCK, launch, lock_path
from memman.config.launcher import lay
from memman.config.lockfile import held
from memman.config.schedule import NOBODY, SERVE, WRITE, Schedule, heartbeat_path, overdue, refuse_stopped, ring
from memman.locks import alone
from memman.model.errors import NoScheduler
from memman.scheduler import launchd, systemd

# The service managers: modules with the same functions.
MANAGERS: tuple[ModuleType, ...] = (systemd, launchd)
_PATIENCE = 20.0  # seconds; a change is some orders to a service manager
_BUSY = "another `memman scheduler` command is running; try again"
_NOBODY = "nothing starts drains here: run `memman scheduler install`"
_UNTIMED = "drains are started by each write here, so there is no interval"
_SILENT = "neither systemd nor launchd answers here"
_WRITES = "each write starts a drain in the background, which exits when done"


def named(kind: str) -> ModuleType | None:
    """Return the manager that a schedule names."""
    return next((manager for manager in MANAGERS if kind == manager.KIND), None)


def _answering() -> ModuleType | None:
    return next((manager for manager in MANAGERS if manager.available()), None)


def _elsewhere(manager: ModuleType, data: str) -> str:
    """Return the launcher of another data folder that a manager's files call, '' where they do not."""
    owner: str = manager.owner()
    return owner if owner and os.path.realpath(owner) != os.path.realpath(launcher_path(data)) else ""


def _left_alone(manager: ModuleType, owner: str) -> str:
    return f"{manager.KIND} starts drains by {owner}, of another data folder, and was left alone"


@contextmanager
def changing(data: str) -> Iterator[Schedule]:
    """Give the schedule to change, and to save before anybody hears of it. Raises Busy."""
    with alone(data, "schedule.lock", _BUSY, _PATIENCE):
        yield Schedule.load(data)


def plan(data: str) -> list[str]:
    """Say what `install` would do."""
    manager, lines = _answering(), [f"write the launcher {launcher_path(data)}"]
    if manager is None:
        return [*lines, _without(data, _SILENT)]
    files = ", ".join(manager.rendered(data))
    return [
        *lines,
        *_displaced(data, manager),
        f"write {files} to {manager.folder()} and have {manager.KIND} start drains",
    ]


def install(data: str) -> list[str]:
    """Lay the launcher down, have whoever answers here start drains, and return what to tell the user."""
    lay(data)
    manager, why = _answering(), _SILENT
    try:
        if manager:
            return _installed(data, manager)
    except NoScheduler as error:
        why = str(error)
    if not _served(data):
        with changing(data) as schedule:
            schedule.kind = WRITE
            schedule.save(data)
    return [_without(data, why)]


def _installed(data: str, manager: ModuleType) -> list[str]:
    with changing(data):
        lines = [*_displaced(data, manager), *manager.install(data)]
        schedule = Schedule.load(data)
        schedule.kind = manager.KIND
        schedule.save(data)
    if schedule.stopped:
        lines.append("the scheduler stays stopped until `memman scheduler start`")
    return lines


def _displaced(data: str, manager: ModuleType) -> list[str]:
    owner = _elsewhere(manager, data)
    return [f"this takes over from {owner}, whose drains will no longer be started"] if owner else []


def _served(data: str) -> bool:
    return Schedule.load(data).kind == SERVE and held(f"{data}/{SERVE_LOCK}")


def _without(data: str, why: str) -> str:
    """Say who starts drains where no manager does."""
    return "drains are started by `memman scheduler serve`" if _served(data) else f"{why}: {_WRITES}"


def uninstall(data: str) -> list[str]:
    """Remove whatever starts drains for this data folder; return what to tell the user. Memory stays as it is."""
    lines: list[str] = []
    for manager in MANAGERS:
        try:
            owner = _elsewhere(manager, data)
        except NoScheduler:  # it is told to unload what it has, and may not answer; the files go
            owner = ""
        lines += [_left_alone(manager, owner)] if owner else manager.uninstall(data)
    if os.path.isdir(data) and Schedule.load(data).kind != NOBODY:
        with changing(data) as schedule:
            schedule.kind = NOBODY
            schedule.save(data)
    return lines


def start(data: str) -> list[str]:
    """Let drains run, also after a reboot. Return what to tell the user."""
    with changing(data) as schedule:
        schedule.stopped = False
        schedule.save(data)
        lines = ["started: notes are accepted and processed"] + ([_NOBODY] if schedule.kind == NOBODY else [])
        return lines + _ordered(data, schedule, lambda manager: manager.start())


def stop(data: str) -> list[str]:
    """Let memory be read only, also after a reboot: the state is on disk before any unit hears of it."""
    with changing(data) as schedule:
        schedule.stopped = True
        schedule.save(data)
        lines = ["stopped: memory is read-only until `memman scheduler start`"]
        try:
            return lines + _ordered(data, schedule, lambda manager: manager.stop())
        except NoScheduler as error:
            return [*lines, f"{error}; its units are still installed, but drains refuse to run"]


def _ordered(data: str, schedule: Schedule, order: Callable[[ModuleType], Any]) -> list[str]:
    """Give an order to the schedule's manager; one that serves another data folder is left alone, and that is said."""
    if manager := named(schedule.kind):
        if owner := _elsewhere(manager, data):
            return [f"{_left_alone(manager, owner)}; `memman scheduler install` takes over from it"]
        order(manager)
    return []


def trigger(data: str) -> list[str]:
    """Start a drain in the background now. Raises SchedulerStopped, NoScheduler."""
    refuse_stopped(data, "trigger")
    schedule = Schedule.load(data)
    if schedule.kind == NOBODY:
        raise NoScheduler(f"{_NOBODY}; `memman scheduler drain` runs one drain now")
    ring(data)
    if schedule.timed:
        for line in _ordered(data, schedule, lambda manager: manager.trigger()):
            raise NoScheduler(line)
        return [f"asked {schedule.kind} to start a drain"]
    if launch(data):
        return ["a drain was started"]
    if held(lock_path(data)):
        return ["a drain is already running and will also process new notes"]
    raise NoScheduler("no drain could be started: run `memman doctor` to see why")


def interval(data: str) -> int:
    """Return how often a drain starts that nobody rang for. Raises NoScheduler where none does."""
    return _timed(Schedule.load(data)).interval


def set_interval(data: str, seconds: int) -> list[str]:
    """Set how often a drain starts that nobody rang for. Raises NoScheduler where none would."""
    with changing(data) as schedule:
        _timed(schedule).interval = seconds
        schedule.save(data)
        lines = [f"a drain starts every {seconds} s and after each new note"]
        return lines + _ordered(data, schedule, lambda manager: manager.install(data))


def _timed(schedule: Schedule) -> Schedule:
    if not schedule.timed:
        raise NoScheduler(_NOBODY if schedule.kind == NOBODY else _UNTIMED)
    return schedule


def report(data: str) -> dict[str, Any]:
    """Return kind, state, units, last and next run (Unix milliseconds), and by how many seconds a drain is overdue."""
    schedule = Schedule.load(data)
    health, last = _health(data, schedule.kind), last_run(data)
    expected = last + schedule.interval * 1000 if last and schedule.timed else None
    return {
        "kind": schedule.kind or WRITE,
        "state": "stopped" if schedule.stopped else "not installed" if schedule.kind == NOBODY else "started",
        "interval": schedule.interval if schedule.timed else None,
        "well": health.get("well"),
        "units": health.get("units", {}),
        "last_run": last,
        "next_run": None if schedule.stopped else health.get("next_run") or expected,
        "overdue_seconds": overdue(data),
    }


def last_run(data: str) -> int | None:
    """Return when a drain last got on or ended."""
    try:
        return os.stat(heartbeat_path(data)).st_mtime_ns // 1_000_000
    except OSError:
        return None


def _health(data: str, kind: str) -> dict[str, Any]:
    if kind == SERVE:
        runs = held(f"{data}/{SERVE_LOCK}")
        return {"well": runs, "units": {kind: "running" if runs else "not running"}}
    manager = named(kind)
    if manager is None:
        return {}
    try:
        if owner := _elsewhere(manager, data):
            return {"well": False, "units": {kind: f"runs drains for another data folder ({owner})"}}
        health: dict[str, Any] = manager.health()
    except NoScheduler:
        return {"well": False, "units": {kind: "does not answer"}}
    return health
