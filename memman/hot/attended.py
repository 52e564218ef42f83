"""Whether a person sits before an agent, and whether its answers are to end with what they note."""

import os
import time

from memman.config.places import make_file, sessions_path, setting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.hot.call import Call

# Variables that programs set which run an agent with nobody there, and with which values: () any.
_PROGRAMS = {
    "CI": (),
    "CLAUDE_CODE_ENTRYPOINT": ("sdk-cli", "sdk-ts", "sdk-py", "claude-code-github-action"),
}
# Seconds in which the agent of a host that has noted once is taken to go on doing so.
_GOES_ON = 14 * 86_400
# What Claude Code says of a prompt that no person typed.
_NOBODYS = ("system", "loop_wakeup", "schedule_wakeup", "poll_event")


def asked(call: "Call") -> bool:
    """Whether this session is told to end answers with `Noted:` lines: MEMMAN_NOTED, by default where a person is."""
    said = setting(call.data, "MEMMAN_NOTED")
    return call.genuine and (said == "on" or (said in ("", "auto") and not _program()))


def nobodys(call: "Call") -> bool:
    """Whether a prompt is a program's. Some people's containers set CI too: MEMMAN_NOTED=on says so."""
    if call.payload.text("source") in _NOBODYS:
        return True
    return bool(os.environ.get("CI")) and setting(call.data, "MEMMAN_NOTED") != "on"


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


def _program() -> bool:
    found = ((os.environ.get(name, ""), values) for name, values in _PROGRAMS.items())
    return any(value and (not values or value in values) for value, values in found)
