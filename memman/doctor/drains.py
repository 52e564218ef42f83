"""Who starts drains, and whether they come to their end, on time and without failing."""

import os
import time
from collections.abc import Iterator
from contextlib import closing
from types import ModuleType

from memman.config.drain_by_write import SERVE_LOCK, SWITCH, lock_path
from memman.config.lockfile import held
from memman.config.schedule import NOBODY, SERVE, Schedule, heartbeat_path, overdue
from memman.doctor.finding import Context, Finding, fail, ok, shell, skipped, sound, warn
from memman.drain.report import PASSING
from memman.drain.worklog import lines
from memman.model.text import duration
from memman.queue.view import QueueView
from memman.scheduler import manager, systemd
from memman.scheduler.control import last_run, named

# Seconds by which a drain may be late, after a night's sleep of the machine for one, before that is a failure.
_LATE = 3600
# Seconds without a sign of life from a drain at work; the tidying of a large store takes minutes.
_STUCK = 600
# Lines of the log in which the newest failure is looked for.
_LINES = 200
_DRAIN, _INSTALL = "memman scheduler drain", "memman scheduler install"
_MORE = "see `memman scheduler status` and `memman log worker`"


def drains(context: Context) -> Iterator[Finding]:
    """Check when the last drain ended, and how.

    Three missed intervals are a warning; 1 hour, an error, or 10 minutes without progress are a failure.
    """
    data = context.data
    late, last = overdue(data), last_run(data)
    troubles = [*_stuck(data), *_failing(data, last or 0)]
    if late is not None:
        troubles.append((fail if late > _LATE else warn)(f"no drain for {duration(late)}", _DRAIN, _MORE))
    if last is None and not troubles:
        return iter([skipped("no drain has run yet")])
    return sound(troubles, f"the last drain ended {duration(max(0.0, time.time() - (last or 0) / 1000))} ago")


def scheduler(context: Context) -> Iterator[Finding]:
    """Check who starts drains, and that no unit is missing, changed, disabled or idle."""
    data, schedule = context.data, Schedule.load(context.data)
    if schedule.stopped:
        yield warn("stopped: memory is read-only", "memman scheduler start")
    if starter := named(schedule.kind):
        faults = [*_files(data, starter), *_health(starter, stopped=schedule.stopped)]
        yield from sound(faults, f"{schedule.kind}: after each note and every {schedule.interval} s")
    elif not schedule.stopped:
        yield _unmanaged(data, schedule.kind)


def _stuck(data: str) -> Iterator[Finding]:
    """Find a drain that is at work but gets no further: until it ends no other starts."""
    lock = lock_path(data)
    signs = [os.stat(path).st_mtime for path in (lock, heartbeat_path(data)) if os.path.exists(path)]
    if held(lock) and (passed := time.time() - max(signs)) > _STUCK:
        says = f"a drain holds {lock} but made no progress for {duration(passed)}: it is suspended or hangs"
        hint = "`kill -CONT` resumes the process listed; killing it loses nothing, the next drain continues"
        yield fail(says, f"lsof {shell(lock)}", hint)


def _failing(data: str, last: int) -> Iterator[Finding]:
    """Find that the newest drain was broken off, or ended with an error, whoever started it."""
    now = time.time() * 1000
    broken = [one for one in lines(data, _LINES) if one["event"] == "drain failed" and last < one["at"] <= now]
    hint = f"{_MORE}; the drain's own message says what to do"
    if broken:
        says = ": ".join(str(broken[-1][key]) for key in ("error", "message") if broken[-1].get(key))
        yield fail(f"the last drain failed: {says}", _DRAIN, hint)
        return
    with closing(QueueView(data)) as queue:
        ended = queue.last_drain()
    if code := ended.get("exit_code"):
        says = next(iter(ended.get("errors", ())), f"exit code {code}")
        yield (warn if code in PASSING else fail)(f"the last drain failed: {says}", _DRAIN, hint)


def _unmanaged(data: str, kind: str) -> Finding:
    """Say who starts drains where no service manager does."""
    if kind == NOBODY:
        return warn("nothing starts drains: notes stay queued until you run one", _INSTALL)
    if kind == SERVE:
        hint = "or start it where it should run, e.g. in the container; until then writes start drains"
        idle = warn("`memman scheduler serve` is not running", _INSTALL, hint)
        return ok("`memman scheduler serve` is running") if held(f"{data}/{SERVE_LOCK}") else idle
    if os.environ.get(SWITCH) == "off":
        return warn(f"{SWITCH}=off keeps writes from starting drains", hint="unset it, or run drains yourself")
    return ok("each write starts a drain")


def _files(data: str, starter: ModuleType) -> Iterator[Finding]:
    for name, text in starter.rendered(data).items():
        path = f"{starter.folder()}/{name}"
        if (found := manager.held(path)) != text:
            how = "is missing" if found is None else "was changed or is from another version"
            yield fail(f"{path} {how}", _INSTALL)


def _health(starter: ModuleType, *, stopped: bool) -> Iterator[Finding]:
    if not starter.available():
        hint = "fine while drains are on time: it then works in your own login session (not with `su`)"
        yield warn(f"{starter.KIND} does not answer here", hint=hint)
        return
    health = starter.health()
    if not health["well"] and not stopped:
        states = ", ".join(f"{name} {state}" for name, state in health["units"].items())
        yield fail(f"{starter.KIND}: {states}", f"{_INSTALL} && memman scheduler trigger")
    if starter is systemd and not systemd.lingers():
        yield warn("drains stop when you log out: lingering is off", "loginctl enable-linger")
