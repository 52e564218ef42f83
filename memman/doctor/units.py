"""Whether the service manager's files are as this version ships them, and its units at work.

Looks at: systemd units, the launchd agent
Finds: differ from what this version ships, missing, not active, masked, not enabled, not read again, overridden by a
drop-in, or systemd is gone and drains are overdue; warns without lingering
"""

import os
from collections.abc import Iterator

from memman.config.schedule import Schedule, overdue
from memman.doctor.finding import Context, Finding, fail, skipped, sound, warn
from memman.doctor.manager import overrides
from memman.scheduler import systemd
from memman.scheduler.adapter import Adapter, named
from memman.scheduler.files import held

_INSTALL = "memman scheduler install"


def check(context: Context) -> Iterator[Finding]:
    """Compare the unit files with what this version ships, and ask the service manager how they are."""
    schedule = Schedule.load(context.data)
    adapter = named(schedule.kind)
    if adapter is None:
        yield skipped("no service manager is used")
        return
    faults = [*_files(context.data, adapter), *_health(context.data, adapter, stopped=schedule.stopped)]
    yield from sound(faults, f"{adapter.KIND}: up to date, in {adapter.folder()}")


def _files(data: str, adapter: Adapter) -> Iterator[Finding]:
    texts = adapter.rendered(data)
    for name, text in texts.items():
        path = f"{adapter.folder()}/{name}"
        found = held(path)
        if found is None:
            yield fail(f"{path} is missing", _INSTALL)
        elif found != text:
            yield fail(f"{path} was changed or is from another version", _INSTALL)
    surplus = f"{adapter.folder()}/{systemd.SANDBOX}"
    if adapter.KIND == systemd.KIND and systemd.SANDBOX not in texts and os.path.lexists(surplus):
        yield fail(f"{surplus} asks for a sandbox that is not available here, so no drain starts", _INSTALL)


def _health(data: str, adapter: Adapter, *, stopped: bool) -> Iterator[Finding]:
    if not adapter.available():
        yield _silent(data, adapter)
        return
    health = adapter.health()
    if not health["well"] and not stopped:
        states = ", ".join(f"{name} {state}" for name, state in health["units"].items())
        yield fail(f"{adapter.KIND}: {states}", f"{_INSTALL} && memman scheduler trigger")
    if adapter.KIND != systemd.KIND:
        return
    yield from overrides(stopped=stopped)
    if not systemd.lingers():
        yield warn("drains stop when you log out: lingering is off", "loginctl enable-linger")


def _silent(data: str, adapter: Adapter) -> Finding:
    says = f"{adapter.KIND} does not answer here"
    if overdue(data) is not None:
        return fail(f"{says}, and no longer starts drains", _INSTALL, "meanwhile writes start them")
    return warn(says, hint="drains run on time, so it works in your own login session (not with `su`)")
