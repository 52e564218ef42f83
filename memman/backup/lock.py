"""Who has the backups to themselves, and who the whole data folder but for the appending of notes."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from memman import locks

BACKUP_LOCK = "backup.lock"
# Seconds that whoever wants everything to be quiet waits for a drain or a backup at work.
PATIENCE = 60


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
