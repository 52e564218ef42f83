"""Installing and removing what starts drains."""

import shlex

from memman.config.launcher import launcher_path, lay
from memman.config.schedule import Schedule
from memman.model.errors import NoScheduler
from memman.scheduler.adapter import ADAPTERS, Adapter, answering, elsewhere, left_alone
from memman.scheduler.state import changing

SERVE = "serve"


def plan(data: str) -> list[str]:
    """Say what `install` would do."""
    adapter = answering()
    lines = [f"write the launcher {launcher_path(data)}"]
    if adapter is None:
        return lines + _without(data)
    files = ", ".join(adapter.rendered(data))
    return [
        *lines,
        *_displaced(data, adapter),
        f"write {files} to {adapter.folder()} and have {adapter.KIND} start drains",
    ]


def install(data: str) -> list[str]:
    """Lay the launcher down and have whoever answers here start drains; return what to tell the user.

    Where nobody answers, the lines say what to do instead.
    """
    return attempt(data)[0]


def attempt(data: str) -> tuple[list[str], bool]:
    """Do what `install` does; return also whether somebody starts drains now."""
    lay(data)
    adapter = answering()
    if adapter is None:
        return _without(data), Schedule.load(data).kind == SERVE
    try:
        return _installed(data, adapter), True
    except NoScheduler as error:
        return [f"{error}: {_instead(data)}"], False


def uninstall(data: str) -> list[str]:
    """Remove whatever starts drains for this data folder; return what to tell the user. Memory stays as it is."""
    lines = [line for adapter in ADAPTERS for line in _removed(data, adapter)]
    if Schedule.load(data).kind:
        with changing(data) as schedule:
            schedule.kind, schedule.lingering = "", False
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
    return [f"this replaces what started drains by {owner}: they will not be started any more"] if owner else []


def _installed(data: str, adapter: Adapter) -> list[str]:
    with changing(data):
        lines = _displaced(data, adapter) + adapter.install(data)
        schedule = Schedule.load(data)
        schedule.kind = adapter.KIND
        schedule.save(data)
    if schedule.stopped:
        lines.append("the scheduler is stopped, and stays so until `memman scheduler start`")
    return lines


def _without(data: str) -> list[str]:
    if Schedule.load(data).kind == SERVE:
        return ["drains are started by `memman scheduler serve`"]
    return [f"neither systemd nor launchd answers here: {_instead(data)}"]


def _instead(data: str) -> str:
    return f"keep `memman scheduler serve` running, or add this line to your crontab: {cron_line(data)}"


def cron_line(data: str) -> str:
    """Return the line for a crontab that drains every minute."""
    return f"* * * * * {shlex.quote(launcher_path(data))} scheduler drain --wait --deadline 240".replace("%", "\\%")
