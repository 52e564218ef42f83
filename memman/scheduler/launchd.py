"""launchd: an agent that drains, started when the bell is touched and at an interval."""

import os
import plistlib
import time
from contextlib import suppress
from typing import Any
from xml.parsers.expat import ExpatError
from xml.sax.saxutils import escape

from memman.config.command import launcher_path
from memman.config.launcher import moved
from memman.config.schedule import Schedule, bell_path
from memman.model.errors import NoScheduler
from memman.scheduler.manager import Answer, ask, filled, held, lay, obeyed, shipped, take

KIND = "launchd"
LABEL = "io.memman.drain"
_FILE = f"{LABEL}.plist"
# An agent that is still ending cannot be loaded: how often to try, and the seconds between.
_TRIES, _PAUSE = 10, 0.3


def available() -> bool:
    """Whether this user's launchd answers."""
    try:
        return _launchctl("print", _domain()).code == 0
    except NoScheduler:
        return False


def folder() -> str:
    """Return the folder of this user's agents."""
    return os.path.expanduser("~/Library/LaunchAgents")


def rendered(data: str) -> dict[str, str]:
    """Return what the agent's file must hold."""
    folder = f"<key>MEMMAN_DATA_DIR</key><string>{escape(data)}</string>" if moved(data) else ""
    values = {
        "@LAUNCHER@": escape(launcher_path(data)),
        "@BELL@": escape(bell_path(data)),
        "@INTERVAL@": str(Schedule.load(data).interval),
        "@ENVIRONMENT@": folder,
    }
    return {_FILE: filled(shipped(f"launchd/{_FILE}").decode(), values)}


def owner() -> str:
    """Return the launcher that the agent which is there calls, '' where there is none."""
    try:
        return str(plistlib.loads((held(f"{folder()}/{_FILE}") or "").encode())["ProgramArguments"][0])
    except (ValueError, LookupError, TypeError, ExpatError):
        return ""


def install(data: str) -> list[str]:
    """Lay the agent down and load it, unless the scheduler is stopped. Raises NoScheduler."""
    lay(folder(), rendered(data))
    schedule = Schedule.load(data)
    (stop if schedule.stopped else start)()
    return [f"launchd starts a drain after each new note and every {schedule.interval} s (agent in {folder()})"]


def uninstall(data: str) -> list[str]:
    """Unload and remove the agent; unload it also where its file is gone already."""
    here = os.path.lexists(f"{folder()}/{_FILE}")
    if not here and Schedule.load(data).kind != KIND:
        return []
    with suppress(NoScheduler):
        _launchctl("bootout", _service())
        _launchctl("enable", _service())
    take(f"{folder()}/{_FILE}")
    return [f"removed the launchd agent from {folder()}"]


def start() -> None:
    """Enable the agent and load it afresh."""
    _launchctl("bootout", _service())
    _order("enable", _service())
    command = ("bootstrap", _domain(), f"{folder()}/{_FILE}")
    for _ in range(_TRIES - 1):
        if not _launchctl(*command).code:
            return
        time.sleep(_PAUSE)
    _order(*command)


def stop() -> None:
    """Disable the agent, so that it is not loaded at the next login, and unload it."""
    _order("disable", _service())
    _launchctl("bootout", _service())


def trigger() -> None:
    """Start the agent's program."""
    _order("kickstart", _service())


def health() -> dict[str, Any]:
    """Return whether launchd has the agent; when drains ran, the heartbeat tells."""
    loaded = not _launchctl("print", _service()).code
    return {"well": loaded, "units": {LABEL: "loaded" if loaded else "not loaded"}, "next_run": None}


def _domain() -> str:
    return f"gui/{os.getuid()}"


def _service() -> str:
    return f"{_domain()}/{LABEL}"


def _launchctl(*words: str) -> Answer:
    return ask("launchctl", *words)


def _order(*words: str) -> None:
    obeyed(_launchctl(*words), " ".join(("launchctl", *words)))
