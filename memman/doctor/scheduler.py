"""Whether somebody starts drains, whether they may run, and how the service manager is doing."""

import os
from collections.abc import Iterator

from memman.config.drain_by_write import SERVE_LOCK, SWITCH
from memman.config.launcher import launcher_path
from memman.config.lockfile import held
from memman.config.schedule import NOBODY, SERVE, STARTERS, Schedule, overdue, schedule_path
from memman.doctor.finding import Context, Finding, fail, ok, shell, sound, warn
from memman.scheduler import files, systemd
from memman.scheduler.adapter import ADAPTERS, Adapter, named

_INSTALL = "memman scheduler install"


def check(context: Context) -> Iterator[Finding]:
    """Look who starts drains, and whether they may and can.

    Warns where nobody starts them or they are stopped, and without lingering; fails where units are missing,
    masked, disabled, not active or differ from what this version ships, where the schedule is lost though units stand,
    or names nobody that is known
    """
    schedule = Schedule.load(context.data)
    if schedule.stopped:
        yield warn("stopped: memory is read-only", "memman scheduler start")
    adapter = named(schedule.kind)
    if adapter is not None:
        says = f"{schedule.kind}: after each note and every {schedule.interval} s"
        faults = [*_files(context.data, adapter), *_health(context.data, adapter, stopped=schedule.stopped)]
        yield from sound(faults, says)
    elif not schedule.stopped:
        yield _unmanaged(context.data, schedule.kind)


def _unmanaged(data: str, kind: str) -> Finding:
    """Say who starts drains where no service manager does."""
    if kind not in ("", *STARTERS):
        return fail(f"{schedule_path(data)} names an unknown scheduler, {kind[:40]!a}", _INSTALL)
    if kind == NOBODY:
        return warn("nothing starts drains: notes stay queued until you run one", _INSTALL)
    if kind == SERVE:
        hint = "or start it where it should run, e.g. in the container; until then writes start drains"
        serves = held(f"{data}/{SERVE_LOCK}")
        says = "`memman scheduler serve` is"
        return ok(f"{says} running") if serves else warn(f"{says} not running", _INSTALL, hint)
    if (laid := _laid(data)) and (not kind or laid.available()):
        return fail(f"{schedule_path(data)} does not mention {laid.KIND}, which has memman's units", _INSTALL)
    if os.environ.get(SWITCH) == "off":
        return warn(f"{SWITCH}=off keeps writes from starting drains", hint="unset it, or run drains yourself")
    return ok("each write starts a drain")


def _laid(data: str) -> Adapter | None:
    """Return the service manager that has units of ours for this data folder."""
    for adapter in ADAPTERS:
        folder = adapter.folder()
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if "memman" in name and launcher_path(data) in (files.held(f"{folder}/{name}") or ""):
                return adapter
    return None


def _files(data: str, adapter: Adapter) -> Iterator[Finding]:
    texts = adapter.rendered(data)
    for name, text in texts.items():
        path = f"{adapter.folder()}/{name}"
        found = files.held(path)
        if found != text:
            how = "is missing" if found is None else "was changed or is from another version"
            yield fail(f"{path} {how}", _INSTALL)
    surplus = f"{adapter.folder()}/{systemd.SANDBOX}"
    if adapter.KIND == systemd.KIND and systemd.SANDBOX not in texts and os.path.lexists(surplus):
        yield fail(f"{surplus} asks for a sandbox that is not available here, so no drain starts", _INSTALL)


def _health(data: str, adapter: Adapter, *, stopped: bool) -> Iterator[Finding]:
    if not adapter.available():
        says = f"{adapter.KIND} does not answer here"
        if overdue(data) is not None:
            yield fail(f"{says}, and no longer starts drains", _INSTALL, "meanwhile writes start them")
        else:
            yield warn(says, hint="drains run on time, so it works in your own login session (not with `su`)")
        return
    health = adapter.health()
    if not health["well"] and not stopped:
        states = ", ".join(f"{name} {state}" for name, state in health["units"].items())
        yield fail(f"{adapter.KIND}: {states}", f"{_INSTALL} && memman scheduler trigger")
    if adapter.KIND != systemd.KIND:
        return
    for unit, state in systemd.enabled().items():
        if state.startswith("masked"):
            runtime = ("--runtime",) if state.endswith("runtime") else ()
            unmask = shell("systemctl", "--user", "unmask", *runtime, unit)
            yield fail(f"systemd: {unit} is {state}", f"{unmask} && {_INSTALL}")
        elif state != "enabled" and not stopped:
            yield fail(f"systemd: {unit} is {state}: nothing starts it at the next login", _INSTALL)
    if not systemd.lingers():
        yield warn("drains stop when you log out: lingering is off", "loginctl enable-linger")
