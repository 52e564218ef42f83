"""The drain that a write starts where nobody else starts drains. Safe on the hot path.

The write takes the drain's lock and hands it on, so that of many writes at once one starts a drain.
"""

import os
import sys

from memman.config.lockfile import held, taken
from memman.config.schedule import NOBODY, SERVE, WRITE, Schedule, overdue, ring

LOCK = "drain.lock"
SERVE_LOCK = "serve.lock"
# In the environment: `off` keeps writes from starting drains.
SWITCH = "MEMMAN_DRAIN"
DEADLINE = 240  # seconds
_started: list[int] = []


def lock_path(data: str) -> str:
    """Return the path of the file that a drain at work holds locked; its modification time is when that one began."""
    return f"{data}/{LOCK}"


def ask(data: str) -> None:
    """Ring for a drain, and start one where nobody else would. May fail silently: the note is on disk."""
    ring(data)
    if wanted(data):
        launch(data)


def wanted(data: str) -> bool:
    """Whether a drain runs only if a write starts it: by choice, or because who should start them does not."""
    if switched_off():
        return False
    schedule = Schedule.load(data)
    if schedule.stopped or schedule.kind == NOBODY:
        return False
    if schedule.kind == SERVE:
        return not held(f"{data}/{SERVE_LOCK}")
    return schedule.kind in ("", WRITE) or overdue(data) is not None


def switched_off() -> bool:
    """Whether the environment keeps this process's writes from starting drains."""
    return os.environ.get(SWITCH) == "off"


def command() -> tuple[str, ...]:
    """Return what runs a drain by the interpreter that runs us, and nothing of the folder that it runs in."""
    return (sys.executable, "-P", "-m", "memman", "scheduler", "drain")


def launch(data: str) -> int:
    """Start a drain, apart from our streams and files; return its process id, 0 where one runs or none can start."""
    _reap()
    try:
        lock = taken(lock_path(data))
    except OSError:
        return 0
    if lock < 0:
        return 0
    try:
        os.set_inheritable(lock, True)
        # A signal that the caller holds back would reach the drain never.
        pid = os.posix_spawn(
            sys.executable,
            (*command(), "--handed", str(lock)),
            os.environ | {"MEMMAN_DATA_DIR": data},
            file_actions=_apart(lock),
            setsid=True,
            setsigmask=(),
        )
    except (OSError, ValueError, RuntimeError):
        return 0
    finally:
        os.close(lock)
    _started.append(pid)
    return pid


def _apart(lock: int) -> "list[tuple[int, ...] | tuple[int, int, str, int, int]]":
    """Return what a new process does to be apart from us: null streams, and no other file but the lock."""
    inherited = {int(name) for name in os.listdir("/dev/fd")} - {0, 1, 2, lock}
    return [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDWR, 0),
        (os.POSIX_SPAWN_DUP2, 0, 1),
        (os.POSIX_SPAWN_DUP2, 0, 2),
        *((os.POSIX_SPAWN_CLOSE, number) for number in sorted(inherited)),
    ]


def _reap() -> None:
    """Take leave of drains of ours that have ended: whoever writes on and on must not gather them."""
    for pid in [*_started]:
        try:
            if not os.waitpid(pid, os.WNOHANG)[0]:
                continue
        except OSError:
            pass
        _started.remove(pid)
