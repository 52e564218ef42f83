"""Locks that keep a second one from starting: one drain at a time on this machine, whoever starts it.

The kernel frees a lock when its process ends, however it ends.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from filelock import FileLock, Timeout

from memman.config.drain_by_write import LOCK, launch, lock_path, wanted
from memman.config.filesystem import ensure_safe_folder
from memman.config.places import FILE_MODE, make_file, make_folder
from memman.config.schedule import silence
from memman.model.errors import Busy
from memman.sqlite import TranslatedErrors

_BUSY = "another drain is already running and will process these notes"


@contextmanager
def alone(data: str, name: str, busy: str, patience: float = 0) -> Iterator[None]:
    """Hold the lock file `name`, or raise Busy saying `busy` after `patience` seconds, -1 for never."""
    path = f"{data}/{name}"
    with TranslatedErrors(path):
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


@contextmanager
def drain_lock(data: str, patience: float = 0, *, handed: int | None = None, busy: str = _BUSY) -> Iterator[None]:
    """Hold drain.lock, or raise Busy after `patience` seconds, -1 for never. Raises UnsafePlace.

    `handed` is the open lock file that a write has taken for us. Who rang while we held it may have started no drain:
    where writes start them, one follows.
    """
    ensure_safe_folder(data)
    with alone(data, LOCK, busy, patience) if handed is None else _handed(data, handed):
        yield
    if wanted(data) and silence(data):
        launch(data)


@contextmanager
def _handed(data: str, handle: int) -> Iterator[None]:
    """Hold a lock that was taken before we were started. Raises Busy where it is not the drain's."""
    try:
        ours = os.path.samestat(os.fstat(handle), os.stat(lock_path(data)))
    except OSError:
        ours = False
    if not ours:
        raise Busy("the lock passed on belongs to another data folder")
    os.set_inheritable(handle, False)
    try:
        with suppress(OSError):
            os.utime(handle)
        yield
    finally:
        os.close(handle)
