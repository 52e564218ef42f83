"""Whether somebody starts drains, and whether they may run.

Looks at: who starts drains; where each write does, one is started so, on a data folder of its own
Finds: warns where nobody does, or it is stopped; fails where a drain that a write starts does not come to its end,
with the reason, and where the schedule is lost though units stand, or names nobody that is known
"""

import os
import time
from collections.abc import Iterator
from signal import SIGKILL

from memman.config.drain_by_write import SERVE_LOCK, SWITCH, command, launch
from memman.config.launcher import launcher_path
from memman.config.lockfile import held
from memman.config.schedule import NOBODY, SERVE, STARTERS, Schedule, schedule_path
from memman.doctor.finding import Context, Finding, fail, ok, warn
from memman.doctor.tryout import tryout
from memman.scheduler import files
from memman.scheduler.adapter import ADAPTERS, Adapter
from memman.scheduler.command import ask

_INSTALL = "memman scheduler install"
# Seconds that a drain of one note may take on a machine that is very busy, and between two looks at it.
PATIENCE, _POLL = 20.0, 0.02


def check(context: Context) -> Iterator[Finding]:
    """Look who starts drains, and whether they may."""
    schedule = Schedule.load(context.data)
    if schedule.stopped:
        yield warn("stopped: memory is read-only", "memman scheduler start")
    elif schedule.kind not in ("", *STARTERS):
        says = f"{schedule_path(context.data)} names an unknown scheduler, {schedule.kind[:40]!a}"
        yield fail(says, _INSTALL)
    elif schedule.kind == NOBODY:
        yield warn("nothing starts drains: notes stay queued until you run one", _INSTALL)
    elif schedule.kind == SERVE:
        yield _served(context.data)
    elif schedule.timed:
        yield ok(f"{schedule.kind}: after each note and every {schedule.interval} s")
    elif (laid := _laid(context.data)) and (not schedule.kind or laid.available()):
        yield fail(f"{schedule_path(context.data)} does not mention {laid.KIND}, which has memman's units", _INSTALL)
    else:
        yield _written()


def _laid(data: str) -> Adapter | None:
    """Return the service manager that has units of ours for this data folder."""
    for adapter in ADAPTERS:
        folder = adapter.folder()
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            if "memman" in name and launcher_path(data) in (files.held(f"{folder}/{name}") or ""):
                return adapter
    return None


def _served(data: str) -> Finding:
    if held(f"{data}/{SERVE_LOCK}"):
        return ok("`memman scheduler serve` is running")
    hint = "or start it where it should run, e.g. in the container; until then writes start drains"
    return warn("`memman scheduler serve` is not running", _INSTALL, hint)


def _written() -> Finding:
    """Have a drain started as a write starts it, on a data folder of its own."""
    if os.environ.get(SWITCH) == "off":
        return warn(f"{SWITCH}=off keeps writes from starting drains", hint="unset it, or run drains yourself")
    with tryout() as data:
        fault = _tried(data)
        if not fault:
            return ok("each write starts a drain (tested)")
        said = ask(*command(), environ={"MEMMAN_DATA_DIR": data}, patience=PATIENCE).err.strip()
    return fail(f"a drain started by a write {fault}", hint=said.splitlines()[-1][:300] if said else "")


def _tried(data: str) -> str:
    """Start a drain and wait for its end; return what is wrong with it, '' for nothing."""
    pid, until = launch(data), time.monotonic() + PATIENCE
    if not pid:
        return "cannot be started"
    while time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return f"ends with exit code {code}" if code else ""
        time.sleep(_POLL)
    os.kill(pid, SIGKILL)
    os.waitpid(pid, 0)
    return f"does not finish within {PATIENCE:g} s"
