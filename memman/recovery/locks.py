"""Who has the backups to themselves, who the whole data folder but for the appending of notes, and who a store."""

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock

from memman import locks
from memman.config.places import make_file, make_folder, open_file
from memman.model.errors import Busy
from memman.sqlite import TranslatedErrors

BACKUP_LOCK = "backup.lock"
EXCHANGE_LOCK = "exchange.lock"
# Seconds that whoever wants everything to be quiet waits for a drain or a backup at work.
PATIENCE = 60
# Seconds between two looks at a store's lock: the kernel's own wait knows no limit.
_PAUSE = 0.02


def backup_lock(data: str, patience: float = 0) -> AbstractContextManager[None]:
    """Hold backup.lock, or raise Busy after `patience` seconds."""
    busy = "another backup command is running; try again when it has finished"
    return locks.alone(data, BACKUP_LOCK, busy, patience)


@contextmanager
def quiet(data: str) -> Iterator[None]:
    """Hold off drains and backups. Raises Busy where one goes on for longer than PATIENCE."""
    busy = "a drain is running; try again when it has finished"
    with locks.drain_lock(data, PATIENCE, busy=busy), backup_lock(data, PATIENCE):
        yield


def steady(data: str) -> AbstractContextManager[None]:
    """Keep every store in its place while one is changed; many may at once. Raises Busy after a minute."""
    return _exchange_lock(data, LOCK_SH, "a store is being restored or repaired; try again when that has finished")


def exchanging(data: str) -> AbstractContextManager[None]:
    """Keep all others but the drain from changing a store while one is replaced. Raises Busy after a minute."""
    return _exchange_lock(data, LOCK_EX, "another command is changing a store; try again when it has finished")


@contextmanager
def _exchange_lock(data: str, how: int, busy: str) -> Iterator[None]:
    path = f"{data}/{EXCHANGE_LOCK}"
    with TranslatedErrors(path):
        make_folder(data)
        make_file(path)
        handle = open_file(path, os.O_RDWR)
    try:
        _wait(handle, how, busy)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, how: int, busy: str) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            flock(handle, how | LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise Busy(busy) from None
            time.sleep(_PAUSE)
        else:
            return
