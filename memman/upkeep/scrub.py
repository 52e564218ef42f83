"""Wiping what was purged out of the files: what a reader, or a full disk, kept a purge from doing is left to drains."""

import json
import os
from collections.abc import Callable

import apsw

from memman.config.stores import exists, names, valid_name
from memman.model.errors import MemmanError
from memman.queue.notes import Queue
from memman.sqlite import TranslatedErrors
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.idle import SCRUBBING

# Milliseconds that a reader who looks at an older state is waited for, before that is left to the next drain.
_PATIENCE = 2_000


def marked(queue: Queue) -> list[str]:
    """Return the stores that are to be scrubbed: every one there is, where a damaged queue does not tell which."""
    said = queue.meta(SCRUBBING)
    if not said:
        return []
    try:
        marks = json.loads(said)
    except ValueError:
        marks = None
    return list(filter(valid_name, marks)) if _texts(marks) else names(os.path.dirname(queue.path))


def _texts(marks: object) -> bool:
    return isinstance(marks, list) and all(isinstance(one, str) for one in marks)


def mark(queue: Queue, store: str) -> None:
    """Have a store scrubbed, and the queue with it, by whoever comes to it."""
    queue.set_meta(SCRUBBING, json.dumps(sorted({*marked(queue), store})))


def scrub(data: str, queue: Queue, opened: Callable[[str], SqliteStore]) -> list[str]:
    """Wipe the files of the marked stores, and the queue's, under the drain lock; return the stores left for later."""
    due = [name for name in marked(queue) if exists(data, name)]
    left = [name for name in due if not _store_wiped(opened, name)]
    if due and not _wiped(queue.db):
        left = due
    queue.set_meta(SCRUBBING, json.dumps(left) if left else "")
    return left


def _store_wiped(opened: Callable[[str], SqliteStore], name: str) -> bool:
    try:
        return _wiped(opened(name).db)
    except MemmanError:  # what is damaged, repair makes anew
        return False


def _wiped(db: apsw.Connection) -> bool:
    """Write a file anew without what was deleted and empty its log; False where a reader or the disk is in the way."""
    try:
        with TranslatedErrors(db.filename):
            db.set_busy_timeout(_PATIENCE)
            db.execute("VACUUM")
            db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except MemmanError:
        return False
    return True
