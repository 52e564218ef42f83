"""Telling whoever waits how far a backup or a restore has come."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Progress = Callable[[int, int], None]
_One = TypeVar("_One")


def unseen(done: int, total: int) -> None:
    """Be told, and show nothing."""


def told(things: Iterable[_One], steps: Iterator[int], total: int, progress: Progress) -> Iterator[_One]:
    """Hand things on, and tell `progress` the next of `steps` when what is done with one is done."""
    for thing in things:
        yield thing
        progress(next(steps), total)
