"""Who has the data folder to itself, or a part of it: one drain, one backup, one change at a time."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from memman.config.drain_by_write import LOCK, launch, lock_path, wanted
from memman.config.lockfile import taken
from memman.config.places import ensure_safe_folder
from memman.config.schedule import silence
from memman.model.errors import Busy
from memman.sqlite import TranslatedErrors

BACKUP_LOCK = "backup.lock"
EXCHANGE_LOCK = "exchange.lock"
# Seconds that whoever wants everything to be quiet waits for a drain or a backup at work.
PATIENCE = 60
_BUSY = "a drain is running; try again when it has finished"


@contextmanager
def alone(data: str, name: str, busy: str, patience: float = 0, *, shared: bool = False) -> Iterator[None]:
    """Hold the lock file `name`, with others where `shared`, or raise Busy saying `busy` after `patience` seconds."""
    path = f"{data}/{name}"
    with TranslatedErrors(path):
        lock = taken(path, patience, shared=shared)
    if lock < 0:
        raise Busy(busy)
    with _open(lock):
        yield


@contextmanager
def drain_lock(data: str, patience: float = 0, *, handed: int | None = None, busy: str = _BUSY) -> Iterator[None]:
    """Hold drain.lock, or the `handed` one; Busy after `patience` seconds. A drain follows where a write rang."""
    ensure_safe_folder(data)
    with alone(data, LOCK, busy, patience) if handed is None else _handed(data, handed):
        yield
    if wanted(data) and silence(data):
        launch(data)


def backup_lock(data: str, patience: float = 0) -> AbstractContextManager[None]:
    """Hold backup.lock, or raise Busy after `patience` seconds."""
    busy = "another backup command is running; try again when it has finished"
    return alone(data, BACKUP_LOCK, busy, patience)


@contextmanager
def quiet(data: str) -> Iterator[None]:
    """Hold off drains and backups. Raises Busy where one goes on for longer than PATIENCE."""
    with drain_lock(data, PATIENCE), backup_lock(data, PATIENCE):
        yield


def steady(data: str) -> AbstractContextManager[None]:
    """Keep every store in its place while one is changed; many may at once. Raises Busy after a minute."""
    busy = "a store is being restored or repaired; try again when that has finished"
    return alone(data, EXCHANGE_LOCK, busy, PATIENCE, shared=True)


def exchanging(data: str) -> AbstractContextManager[None]:
    """Keep all others but the drain from changing a store while one is replaced. Raises Busy after a minute."""
    return alone(data, EXCHANGE_LOCK, "another command is changing a store; try again when it has finished", PATIENCE)


def _handed(data: str, handle: int) -> AbstractContextManager[None]:
    """Hold a lock that was taken before we were started. Raises Busy where it is not the drain's."""
    try:
        ours = os.path.samestat(os.fstat(handle), os.stat(lock_path(data)))
    except OSError:
        ours = False
    if not ours:
        raise Busy("the lock passed on belongs to another data folder")
    os.set_inheritable(handle, False)
    return _open(handle)


@contextmanager
def _open(handle: int) -> Iterator[None]:
    """Keep a lock file open that was modified now: since then it is held."""
    try:
        with suppress(OSError):
            os.utime(handle)
        yield
    finally:
        os.close(handle)
