"""Locks that keep a second one from starting: one drain at a time on this machine, whoever starts it.

The kernel frees a lock when its process ends, however it ends.
"""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from fcntl import LOCK_NB, LOCK_SH, flock

from filelock import FileLock, Timeout

from memman.config.ground import tread
from memman.config.places import FILE_MODE, make_file, make_folder, open_file
from memman.model.errors import Busy
from memman.sqlite import Guard

LOCK = "drain.lock"


def lock_path(data: str) -> str:
    """Return the path of the file that a drain at work holds locked; its modification time is when that one began."""
    return f"{data}/{LOCK}"


@contextmanager
def alone(data: str, name: str, busy: str, patience: float = 0) -> Iterator[None]:
    """Hold the lock file `name`, or raise Busy saying `busy` after `patience` seconds, -1 for never."""
    path = f"{data}/{name}"
    with Guard(path):
        make_folder(data)
        make_file(path)
        lock = FileLock(path, timeout=patience, mode=FILE_MODE)
        try:
            lock.acquire()
        except Timeout:
            raise Busy(busy) from None
    try:
        with suppress(OSError):
            os.utime(path)
        yield
    finally:
        lock.release()


def held(data: str, name: str) -> bool:
    """Whether somebody holds the lock file `name`; makes none."""
    try:
        handle = open_file(f"{data}/{name}", os.O_RDONLY)
    except OSError:
        return False
    try:
        flock(handle, LOCK_SH | LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def drain_lock(data: str, patience: float = 0) -> AbstractContextManager[None]:
    """Hold drain.lock, or raise Busy after `patience` seconds, -1 for never. Raises UnsafePlace."""
    tread(data)
    return alone(data, LOCK, "another drain is at work; it will take these notes along", patience)
