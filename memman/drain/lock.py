"""The drain lock: one drain at a time on this machine, whoever starts it."""

from collections.abc import Iterator
from contextlib import contextmanager

from filelock import FileLock, Timeout

from memman.config.places import FILE_MODE, make_file, make_folder
from memman.model.errors import Busy
from memman.sqlite import Guard


@contextmanager
def drain_lock(data: str, patience: float = 0) -> Iterator[None]:
    """Hold drain.lock, or raise Busy after `patience` seconds, -1 for never.

    The kernel frees it when the process ends, however it ends.
    """
    path = data + "/drain.lock"
    with Guard(path):
        make_folder(data)
        make_file(path)
        lock = FileLock(path, timeout=patience, mode=FILE_MODE)
        try:
            lock.acquire()
        except Timeout:
            raise Busy("another drain is at work; it will take these notes along") from None
    try:
        yield
    finally:
        lock.release()
