"""systemd: a service that drains, a path unit that waits for the bell, and a timer for what the bell missed."""

import json
import os
import pwd
from typing import Any

from memman.config.launcher import launcher_path, moved
from memman.config.schedule import Schedule, bell_path
from memman.model.errors import UsageError
from memman.scheduler.command import Answer, ask, obeyed
from memman.scheduler.files import lay, shipped, take

KIND = "systemd"
SERVICE = "memman-drain.service"
STARTERS = ("memman-drain.timer", "memman-drain.path")
SANDBOX = f"{SERVICE}.d/sandbox.conf"
_FILES = (SERVICE, *STARTERS, SANDBOX)
_SHOWN = ("Id", "LoadState", "ActiveState", "UnitFileState", "Result")
_LINGER = "/var/lib/systemd/linger/"


def available() -> bool:
    """Whether this user's service manager answers."""
    return _systemctl("show", "--property=Version").code == 0


def folder() -> str:
    """Return the folder of this user's own units."""
    chosen = os.environ.get("XDG_CONFIG_HOME", "")
    return (chosen if os.path.isabs(chosen) else os.path.expanduser("~/.config")) + "/systemd/user"


def rendered(data: str) -> dict[str, str]:
    """Return what each unit file must hold; the sandbox only where the manager can build it."""
    values = {
        "@LAUNCHER@": quoted(launcher_path(data)),
        "@BELL@": quoted(bell_path(data)),
        "@DATA@": quoted("-" + data),
        "@WATCHED@": escaped(bell_path(data)),
        "@INTERVAL@": str(Schedule.load(data).interval),
        "@ENVIRONMENT@\n": f"Environment={quoted('MEMMAN_DATA_DIR=' + data)}\n" if moved(data) else "",
    }
    names = _FILES if sandboxes() else (SERVICE, *STARTERS)
    return {name: _filled(shipped(f"systemd/{name}").decode(), values) for name in names}


def install(data: str) -> list[str]:
    """Lay the units down, load them, and start them unless the scheduler is stopped. Raises NoScheduler."""
    texts = rendered(data)
    lay(folder(), texts)
    if SANDBOX not in texts:
        _unbox()
    _order("daemon-reload")
    schedule = Schedule.load(data)
    (stop if schedule.stopped else start)()
    lines = [f"systemd starts a drain when a note comes, and every {schedule.interval} s (units in {folder()})"]
    if SANDBOX not in texts:
        lines.append("no user namespaces here: the drain runs without its file-system sandbox")
    if not linger():
        lines.append("drains end when you log out: ask an administrator for `loginctl enable-linger " + _user() + "`")
    return lines


def uninstall() -> list[str]:
    """Stop and remove the units."""
    here = [name for name in _FILES if os.path.lexists(f"{folder()}/{name}")]
    if not here:
        return []
    _systemctl("disable", "--now", *STARTERS)
    _systemctl("stop", SERVICE)
    for name in here:
        take(f"{folder()}/{name}")
    _unbox()
    _systemctl("daemon-reload")
    _systemctl("reset-failed", SERVICE, *STARTERS)
    return [f"removed the systemd units from {folder()}"]


def start() -> None:
    """Enable the timer and the path unit, and start them afresh."""
    _order("enable", *STARTERS)
    _order("restart", *STARTERS)


def stop() -> None:
    """Disable the timer and the path unit, and ask a running drain to end."""
    _order("disable", "--now", *STARTERS)
    _order("stop", "--no-block", SERVICE)


def trigger() -> None:
    """Start the service."""
    _order("start", "--no-block", SERVICE)


def health() -> dict[str, Any]:
    """Return the state of each unit and when the timer fires next."""
    shown = _systemctl("show", *(f"--property={name}" for name in _SHOWN), SERVICE, *STARTERS)
    blocks = [dict(line.split("=", 1) for line in block.splitlines()) for block in shown.out.strip().split("\n\n")]
    units = {block["Id"]: _state(block) for block in blocks if "Id" in block}
    well = units.get(SERVICE, "not found") in {"inactive", "activating"}
    well = well and all(units.get(name) == "active, enabled" for name in STARTERS)
    return {"well": well, "units": units, "next_run": _next()}


def linger() -> bool:
    """Let this user's units run while nobody is logged in; whether they may."""
    return lingers() or (ask("loginctl", "--no-ask-password", "enable-linger", _user()).code == 0 and lingers())


def lingers() -> bool:
    """Whether this user's units run while nobody is logged in."""
    return os.path.exists(_LINGER + _user())


def sandboxes() -> bool:
    """Whether the manager can build what the sandbox asks for: it needs user namespaces."""
    lines = shipped(f"systemd/{SANDBOX}").decode().splitlines()
    wanted = (f"--property={line}" for line in lines if line[:1].isalpha() and "@" not in line)
    command = ("systemd-run", "--user", "--wait", "--collect", "--quiet", *wanted, "/bin/sh", "-c", ":")
    return ask(*command, environ=_environ()).code == 0


def escaped(path: str) -> str:
    """Write a path where systemd reads the rest of the line. Raises UsageError where it cannot."""
    if not path.isprintable():
        raise UsageError(f"the path {path!a} holds a control character: set MEMMAN_DATA_DIR to another")
    return path.replace("%", "%%")


def quoted(word: str) -> str:
    """Write a word for a line of words. The commands carry a colon, so that `$` is nothing special."""
    return '"' + escaped(word).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _filled(text: str, values: dict[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def _unbox() -> None:
    take(f"{folder()}/{SANDBOX}")
    try:
        os.rmdir(os.path.dirname(f"{folder()}/{SANDBOX}"))
    except OSError:  # there is none, or it holds a drop-in of the user's own
        return


def _state(shown: dict[str, str]) -> str:
    """Say how a unit is, in one or two words and what ails it."""
    if shown.get("LoadState") != "loaded":
        return shown.get("LoadState", "unknown").replace("-", " ")
    words = [shown.get("ActiveState", ""), shown.get("UnitFileState", "").replace("static", "")]
    ails = shown.get("Result", "success").replace("success", "")
    return ", ".join(filter(None, (*words, ails)))


def _next() -> int | None:
    try:
        timers = json.loads(_systemctl("list-timers", "--all", "--output=json", STARTERS[0]).out)
        return int(timers[0]["next"]) // 1000 or None
    except (ValueError, TypeError, LookupError):
        return None


def _user() -> str:
    return pwd.getpwuid(os.getuid()).pw_name


def _environ() -> dict[str, str]:
    """Return where the manager listens, also from cron and `su`, which do not say."""
    usual = f"/run/user/{os.getuid()}"
    said = os.environ.get("XDG_RUNTIME_DIR", "")
    return {} if said or not os.path.isdir(usual) else {"XDG_RUNTIME_DIR": usual}


def _systemctl(*words: str) -> Answer:
    return ask("systemctl", "--user", *words, environ=_environ())


def _order(*words: str) -> None:
    obeyed(_systemctl(*words), " ".join(("systemctl --user", *words)))
