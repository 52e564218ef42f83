"""Whether a person sits before an agent, and whether what they say is kept, and its answers end with what they note."""

import os
import time

from memman.config.ignore import ignored
from memman.config.places import make_file, sessions_path, setting
from memman.config.schedule import Schedule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.hot.events import Call

# Variables that programs set which run an agent with nobody there, and with which values: () any.
_PROGRAMS = {
    "CI": (),
    "CLAUDE_CODE_ENTRYPOINT": ("sdk-cli", "sdk-ts", "sdk-py", "claude-code-github-action"),
}
# What MEMMAN_CAPTURE may say where turns are kept; unset, they are.
_ON = ("", "corrections", "turns", "ask")
_NO = ("", "0", "false", "no", "off")
# Seconds in which the agent of a host that has noted once is taken to go on doing so.
_GOES_ON = 14 * 86_400
# What Claude Code says of a prompt that a person typed; '' where it says nothing.
_TYPED = ("", "user")


def asked(call: "Call") -> bool:
    """Whether this session, where turns are kept, is told to end answers with `Noted:` lines: MEMMAN_NOTED says so.

    By default it is where a person is.
    """
    said = setting(call.data, "MEMMAN_NOTED")
    program = any(os.environ.get(name) in values if values else _set(name) for name, values in _PROGRAMS.items())
    return wanted(call) and (said == "on" or (said in ("", "auto") and not program))


def wanted(call: "Call") -> bool:
    """Whether turns are kept: not in CI, nor in ignored folders, nor stopped, nor unless the env file says so.

    Some people's containers set CI, too: MEMMAN_NOTED=on says so.
    """
    if not call.genuine or Schedule.load(call.data).stopped:
        return False
    try:
        said = setting(call.data, "MEMMAN_CAPTURE")
        if said not in _ON or (_set("CI") and setting(call.data, "MEMMAN_NOTED") != "on"):
            return False
        return not ignored(call.data, call.cwd or os.getcwd())
    except Exception:  # noqa: BLE001 - what cannot be read is no permission
        return False


def nobodys(call: "Call") -> bool:
    """Whether a prompt is a program's: a schedule's, a loop's, or given by `claude -p`, unless MEMMAN_NOTED=on."""
    source = call.payload.text("source")
    return source not in _TYPED and not (source == "sdk" and setting(call.data, "MEMMAN_NOTED") == "on")


def notes(call: "Call") -> bool:
    """Whether the agent of this host is known to note what its user says."""
    try:
        return time.time() - os.stat(_noting(call)).st_mtime < _GOES_ON
    except OSError:
        return False


def has_noted(call: "Call") -> None:
    """Keep that the agent of this host notes; it may fail silently."""
    path = _noting(call)
    try:
        make_file(path)
        os.utime(path)
    except OSError:
        return


def _noting(call: "Call") -> str:
    return f"{sessions_path(call.data)}/{call.host}.notes"


def _set(name: str) -> bool:
    """Whether a variable is set, and not to what means no."""
    return os.environ.get(name, "").strip().lower() not in _NO
