"""systemd: a service that drains, a path unit that waits for the bell, and a timer for what the bell missed."""

import json
import os
import pwd
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from memman.config.command import launcher_path
from memman.config.launcher import moved
from memman.config.schedule import Schedule, bell_path
from memman.model.errors import NoScheduler, UsageError
from memman.scheduler.manager import Answer, ask, filled, held, lay, obeyed, shipped, take

KIND = "systemd"
SERVICE = "memman-drain.service"
STARTERS = ("memman-drain.timer", "memman-drain.path")
SANDBOX = f"{SERVICE}.d/sandbox.conf"
_PLAIN = (SERVICE, *STARTERS)
_FILES = (*_PLAIN, SANDBOX)
# Where `enable` links the starters; the links outlive files that somebody removed.
_LINKS = ("timers.target.wants/memman-drain.timer", "paths.target.wants/memman-drain.path")
_SHOWN = ("LoadState", "ActiveState", "UnitFileState", "Result", "ExecMainStatus")
# Exit codes of systemd's own, where it could not make a sandbox.
_NO_SANDBOX = {"217", "226"}
_CALLED = re.compile(r'^ExecStart=:/bin/sh "(.*/bin/memman)" ', re.MULTILINE)
_LINGER = "/var/lib/systemd/linger/"


def available() -> bool:
    """Whether this user's service manager answers."""
    try:
        return _systemctl("show", "--property=Version").code == 0
    except NoScheduler:
        return False


def folder() -> str:
    """Return the folder of this user's own units: what the shell's XDG_CONFIG_HOME says, the manager may not know."""
    return os.path.expanduser("~/.config/systemd/user")


def rendered(data: str) -> dict[str, str]:
    """Return what each unit file must hold; the sandbox only where the manager can build it."""
    values = {
        "@LAUNCHER@": quoted(launcher_path(data)),
        "@BELL@": quoted(bell_path(data)),
        "@DATA@": " ".join(quoted("-" + path) for path in _written(data)),
        "@WATCHED@": escaped(bell_path(data)),
        "@INTERVAL@": str(Schedule.load(data).interval),
        "@ENVIRONMENT@\n": f"Environment={quoted('MEMMAN_DATA_DIR=' + data)}\n" if moved(data) else "",
    }
    names = _FILES if sandboxes() else _PLAIN
    return {name: filled(shipped(f"systemd/{name}").decode(), values) for name in names}


def _written(data: str) -> list[str]:
    """Return the folders that a drain writes to: the data folder, and where links in it lead."""
    led = set()
    for folder_ in (data, f"{data}/data"):
        with suppress(OSError), os.scandir(folder_) as entries:
            led |= {os.path.realpath(entry) for entry in entries if entry.is_symlink() and entry.is_dir()}
    return [data, *sorted(led)]


def owner() -> str:
    """Return the launcher that the units which are there call, '' where there are none."""
    found = _CALLED.search(held(f"{folder()}/{SERVICE}") or "")
    return re.sub(r"\\(.)|%(%)", r"\1\2", found[1]) if found else ""


def install(data: str) -> list[str]:
    """Lay the units down, load and start them. Raises NoScheduler, and then leaves no new file behind."""
    place, texts = folder(), rendered(data)
    fresh = [name for name in texts if not os.path.lexists(f"{place}/{name}")]
    lay(place, texts)
    if SANDBOX not in texts:
        _take(place, [SANDBOX])
    schedule = Schedule.load(data)
    try:
        _order("daemon-reload")
        (stop if schedule.stopped else start)()
    except NoScheduler:
        _take(place, fresh)
        raise
    lines = [f"systemd starts a drain after each new note and every {schedule.interval} s (units in {place})"]
    if SANDBOX not in texts:
        lines.append("user namespaces are not available: drains run without the file-system sandbox")
    return lines + _lingering()


def _lingering() -> list[str]:
    """Let this user's units run while nobody is logged in, and say what came of it."""
    if lingers():
        return []
    with suppress(NoScheduler):
        ask("loginctl", "--no-ask-password", "enable-linger", _user())
    if not lingers():
        return [f"drains stop when you log out: ask an administrator to run `loginctl enable-linger {_user()}`"]
    return [
        f"drains keep running after logout: lingering was enabled (`loginctl disable-linger {_user()}` undoes that)"
    ]


def uninstall(data: str) -> list[str]:
    """Stop and remove the units; stop them also where their files are gone already."""
    place, silent = folder(), []
    here = [name for name in _FILES if os.path.lexists(f"{place}/{name}")]
    if not here and Schedule.load(data).kind != KIND:
        return []
    try:
        _systemctl("disable", "--now", *STARTERS)
        _systemctl("stop", *STARTERS, SERVICE)
    except NoScheduler:
        silent = ["systemd does not answer: it may keep running them until it is restarted"]
    _take(place, [*here, *_LINKS])
    if not silent:
        with suppress(NoScheduler):
            _systemctl("daemon-reload")
            _systemctl("reset-failed", SERVICE, *STARTERS)
    return [f"removed the systemd units from {place}", *silent]


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
    units = {unit: _state(shown) for unit, shown in properties(*_SHOWN).items()}
    well = units.get(SERVICE, "not found") in {"inactive", "activating"}
    well = well and all(units.get(name) == "active, enabled" for name in STARTERS)
    return {"well": well, "units": units, "next_run": _next()}


def properties(*names: str) -> dict[str, dict[str, str]]:
    """Return some properties of each unit as the manager has them."""
    shown = _systemctl("show", *(f"--property={name}" for name in ("Id", *names)), SERVICE, *STARTERS)
    parts = shown.out.strip().split("\n\n")
    blocks = [dict(line.split("=", 1) for line in part.splitlines() if "=" in line) for part in parts]
    return {block["Id"]: block for block in blocks if "Id" in block}


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


def _take(place: str, names: Sequence[str]) -> None:
    """Remove files below `place`, and the folders that are empty then: they hold nothing of the user's."""
    for name in names:
        take(f"{place}/{name}")
    for path in (*(os.path.dirname(f"{place}/{name}") for name in names), place, os.path.dirname(place)):
        with suppress(OSError):
            os.rmdir(path)


def _state(shown: dict[str, str]) -> str:
    """Say how a unit is, in one or two words and what ails it."""
    if shown.get("LoadState") != "loaded":
        return shown.get("LoadState", "unknown").replace("-", " ")
    words = [shown.get("ActiveState", ""), shown.get("UnitFileState", "").replace("static", "")]
    ails = shown.get("Result", "success").replace("success", "")
    if ails and shown.get("ExecMainStatus") in _NO_SANDBOX:
        ails = "its sandbox is no longer available: run `memman scheduler install`"
    return ", ".join(filter(None, (*words, ails)))


def _next() -> int | None:
    try:
        timers = json.loads(_systemctl("list-timers", "--all", "--output=json", STARTERS[0]).out)
        return int(timers[0]["next"]) // 1000 or None
    except (ValueError, TypeError, LookupError, OverflowError):
        return None


def _user() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # nobody whom the system knows by name, as in some containers
        return str(os.getuid())


def _environ() -> dict[str, str]:
    """Return where the manager listens, also from cron and `su`, which do not say."""
    usual = f"/run/user/{os.getuid()}"
    said = os.environ.get("XDG_RUNTIME_DIR", "")
    return {} if said or not os.path.isdir(usual) else {"XDG_RUNTIME_DIR": usual}


def _systemctl(*words: str) -> Answer:
    return ask("systemctl", "--user", *words, environ=_environ())


def _order(*words: str) -> None:
    obeyed(_systemctl(*words), " ".join(("systemctl --user", *words)))
