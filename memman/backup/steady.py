"""Changing a store, and putting another in its place: never both at once."""

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock

from memman.config.places import make_file, make_folder, open_file
from memman.model.errors import Busy
from memman.sqlite import Guard

LOCK = "exchange.lock"
# Seconds that either waits for the other, and between two looks: the kernel's own wait for a lock knows no limit.
_PATIENCE, _PAUSE = 60, 0.02


def steady(data: str) -> AbstractContextManager[None]:
    """Keep every store in its place while one is changed; many may at once. Raises Busy after a minute."""
    return _held(data, LOCK_SH, "a store is being restored or repaired; try again when that has finished")


def exchanging(data: str) -> AbstractContextManager[None]:
    """Keep all others but the drain from changing a store while one is replaced. Raises Busy after a minute."""
    return _held(data, LOCK_EX, "another command is changing a store; try again when it has finished")


@contextmanager
def _held(data: str, how: int, busy: str) -> Iterator[None]:
    path = f"{data}/{LOCK}"
    with Guard(path):
        make_folder(data)
        make_file(path)
        handle = open_file(path, os.O_RDWR)
    try:
        _wait(handle, how, busy)
        yield
    finally:
        os.close(handle)


def _wait(handle: int, how: int, busy: str) -> None:
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            flock(handle, how | LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise Busy(busy) from None
            time.sleep(_PAUSE)
        else:
            return
