"""Whether the service manager's files are as this version ships them, and its units at work."""

from collections.abc import Iterator

from memman.config.schedule import Schedule
from memman.doctor.finding import Context, Finding, fail, skipped, sound, warn
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
    faults = [*_files(context.data, adapter), *_health(adapter, stopped=schedule.stopped)]
    yield from sound(faults, f"{adapter.KIND}: as this version ships them, in {adapter.folder()}")


def _files(data: str, adapter: Adapter) -> Iterator[Finding]:
    for name, text in adapter.rendered(data).items():
        path = f"{adapter.folder()}/{name}"
        found = held(path)
        if found is None:
            yield fail(f"{path} is missing", _INSTALL)
        elif found != text:
            yield fail(f"{path} is not as this version ships it", _INSTALL)


def _health(adapter: Adapter, *, stopped: bool) -> Iterator[Finding]:
    if not adapter.available():
        yield warn(f"{adapter.KIND} does not answer here", hint="it may in a session of its own: log in, not `su`")
        return
    health = adapter.health()
    if not health["well"] and not stopped:
        states = ", ".join(f"{name} {state}" for name, state in health["units"].items())
        yield fail(f"{adapter.KIND}: {states}", "memman scheduler start && memman scheduler trigger")
    if adapter.KIND == systemd.KIND and not systemd.lingers():
        yield warn("units stop when you log out: lingering is off", "loginctl enable-linger")
