"""Lock files, which the kernel frees when their process ends, however it ends. Safe on the hot path."""

import os
import time
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock

from memman.config.places import make_file, make_folder, open_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

FOREVER = float("inf")
# Seconds between the first two tries, and at most between any: the kernel's own wait knows no limit.
_PAUSE, _LONGEST_PAUSE = 0.005, 0.05


def opened(path: str) -> int:
    """Open a file to be locked, made where it is missing, and return its handle. Raises OSError."""
    make_folder(os.path.dirname(path))
    make_file(path)
    return open_file(path, os.O_RDWR)


def acquired(handle: int, patience: float = 0, *, shared: bool = False) -> bool:
    """Lock an open file; False where others hold it for longer than `patience` seconds. Raises OSError."""
    until, pause = time.monotonic() + patience, _PAUSE
    while True:
        try:
            flock(handle, (LOCK_SH if shared else LOCK_EX) | LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        else:
            return True


def taken(path: str, patience: float = 0, *, shared: bool = False) -> int:
    """Open and lock a file as `opened` and `acquired` do, and return its handle; -1 where others hold it."""
    handle = opened(path)
    try:
        if acquired(handle, patience, shared=shared):
            return handle
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return -1


def held(path: str) -> bool:
    """Whether somebody holds a lock file; makes none."""
    try:
        handle = open_file(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not acquired(handle, shared=True)
    except OSError:
        return True
    finally:
        os.close(handle)


def edit(path: str, change: "Callable[[str], str]", patience: float = FOREVER) -> None:
    """Write what `change` makes of a small file, in place: others hold it open. Raises OSError."""
    handle = open_file(path, os.O_RDWR)
    try:
        if not acquired(handle, patience):
            return
        said = os.pread(handle, os.fstat(handle).st_size, 0).decode(errors="replace")
        if (says := change(said)) != said:
            rewrite(handle, says)
    finally:
        os.close(handle)


def rewrite(handle: int, text: str) -> None:
    """Put `text` in place of all that an open file holds; who is killed meanwhile empties none. Raises OSError."""
    os.ftruncate(handle, os.pwrite(handle, text.encode(), 0))
