"""Backups that drains take: when one is due, and what became of the last.

Time is counted from the last attempt, by whatever clock; a clock that jumps,
either way, costs one backup more.
"""

import json
from dataclasses import asdict, dataclass

from memman.backup.fields import TEXT, TIME, checked
from memman.backup.manifest import Manifest
from memman.backup.take import prune, take
from memman.clock import now_ms
from memman.config.env import Settings
from memman.config.keys import BACKUP_WORDS
from memman.model.errors import Busy, MemmanError
from memman.queue.notes import Queue

# Queue setting: the last attempt.
_KEY = "backup"
_ATTEMPT = {"at": TIME, "error": TEXT}
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Attempt:
    """When a drain last tried to take a backup (Unix milliseconds, 0 for never), and what was wrong, '' for nothing."""

    at: int = 0
    error: str = ""

    @classmethod
    def last(cls, queue: Queue) -> "Attempt":
        """Read what the queue remembers; what cannot be read never was."""
        try:
            return cls(**checked(json.loads(queue.meta(_KEY) or "{}"), _ATTEMPT))
        except ValueError:
            return cls()


def interval(settings: Settings) -> int:
    """Return the milliseconds between two backups, 0 where there is no schedule."""
    said = settings["MEMMAN_BACKUP_EVERY"]
    return (BACKUP_WORDS[said] if said in BACKUP_WORDS else int(said[:-1])) * _HOUR_MS


def due(last: Attempt, every: int, now: int) -> bool:
    """Whether it is time; what failed is tried again after an hour."""
    return bool(every) and not 0 <= now - last.at < (min(every, _HOUR_MS) if last.error else every)


def attempt(data: str, queue: Queue, settings: Settings) -> Manifest | None:
    """Take a backup where one is due, and throw away what is too old. Raises what is wrong, once it is remembered."""
    every, now, last = interval(settings), now_ms(), Attempt.last(queue)
    if not due(last, every, now):
        return None
    _remember(queue, Attempt(now, "it was interrupted"))
    try:
        made = take(data, automatic=True)
        prune(data, int(settings["MEMMAN_BACKUP_KEEP"]))
    except Busy:  # a person is at it: the next drain comes soon
        _remember(queue, last)
        return None
    except (MemmanError, OSError) as error:
        _remember(queue, Attempt(now, str(error)))
        raise
    _remember(queue, Attempt(now))
    return made


def _remember(queue: Queue, attempt: Attempt) -> None:
    queue.set_meta(_KEY, json.dumps(asdict(attempt)))
