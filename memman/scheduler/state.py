"""The schedule is changed by one at a time: the file, and what its manager is told, go together."""

from collections.abc import Iterator
from contextlib import contextmanager

from memman.config.schedule import Schedule
from memman.locks import alone

_PATIENCE = 20.0  # seconds; a change is some orders to a service manager
_BUSY = "another `memman scheduler` command is running; try again"


@contextmanager
def changing(data: str) -> Iterator[Schedule]:
    """Give the schedule to change, and to save before anybody hears of it. Raises Busy."""
    with alone(data, "schedule.lock", _BUSY, _PATIENCE):
        yield Schedule.load(data)
