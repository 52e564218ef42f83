"""An agent's sandbox that keeps its commands from writing to the data folder: what is said then."""

import os
from errno import EACCES, EPERM, EROFS

import apsw

from memman.config.places import data_dir, foreign, setting
from memman.hot.provenance import agent
from memman.model.errors import CannotWrite, MemmanError

_DENIED = (apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)


def told(error: MemmanError) -> str:
    """Return what to say of an error: that the sandbox is the reason, where it is."""
    who = agent()
    if not (who and isinstance(error, CannotWrite) and _denied(error.__cause__) and _own(data_dir())):
        return str(error)
    return f"the sandbox of {who} does not let its commands write to {data_dir()}: nothing was written; {_besides(who)}"


def _denied(cause: BaseException | None) -> bool:
    return isinstance(cause, _DENIED) or (isinstance(cause, OSError) and cause.errno in {EACCES, EPERM, EROFS})


def _own(data: str) -> bool:
    """Whether the folder is one that its owner, who runs us, may write to by all that is said of it."""
    try:
        info = os.stat(data)
    except OSError:
        return False
    return not foreign(info.st_uid) and bool(info.st_mode & 0o200)


def _besides(who: str) -> str:
    """Say what becomes of what was to be remembered, and what a person can do."""
    from memman.integrations.codex import NAME
    from memman.integrations.state import installed
    from memman.integrations.targets import TARGETS

    data = data_dir()
    wired = who in TARGETS and installed(TARGETS[who], data) and setting(data, "MEMMAN_CAPTURE") != "off"
    captured = "what the user says is captured by a hook when the turn ends" if wired else "no hook captures the turn"
    return captured + ("; `memman install --allow-sandbox`, run by the user, allows it" if who == NAME else "")
