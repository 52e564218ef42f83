"""What every drain does at its end: nothing grows without bound, and what was purged goes out of the files."""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Mapping
from contextlib import suppress

import apsw

from memman.config.asked import drop_asked
from memman.config.places import files_of, handovers_path, sessions_path
from memman.config.shown import RECEIPTS, Showing, taken
from memman.config.stores import exists, names, valid_name
from memman.model.errors import MemmanError, NewerSchema
from memman.queue.late import shorten
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue
from memman.sqlite import TranslatedErrors
from memman.store.sqlite import rules, sessions
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.idle import SCRUBBING
from memman.upkeep.rules import publish, taken_hits

SESSION_DAYS = 7
# Milliseconds that a reader who looks at an older state is waited for, before that is left to the next drain.
_PATIENCE = 2_000


async def maintain(
    data: str,
    queue: Queue,
    ledger: Ledger,
    stores: Mapping[str, SqliteStore],
    opened: Callable[[str], SqliteStore],
) -> None:
    """Tidy the queue, the ledger, and every store that was opened or read from."""
    queue.maintain()
    drop_sessions(data)
    drop_asked(data)
    shorten(data)
    with TranslatedErrors(queue.path):
        ledger.maintain()
    shown: defaultdict[str, list[Showing]] = defaultdict(list)
    for showing in taken(data):
        shown[showing.store].append(showing)
    for name, showings in shown.items():
        if exists(data, name):
            with suppress(NewerSchema), (store := opened(name)).transaction():
                sessions.count(store.db, showings)
    for name, hits in taken_hits(data).items():
        if exists(data, name):
            with suppress(NewerSchema), (store := opened(name)).transaction():
                rules.count(store.db, hits)
    publish(data)
    for store in stores.values():
        store.maintain()


def drop_sessions(data: str) -> None:
    """Remove what sessions that are quiet for SESSION_DAYS left: what hooks knew, and for the next; no receipts."""
    oldest = time.time() - SESSION_DAYS * 86_400
    for path in (*files_of(sessions_path(data)), *files_of(handovers_path(data))):
        with suppress(OSError):
            if not os.path.basename(path).startswith(f"{RECEIPTS}-") and os.lstat(path).st_mtime < oldest:
                os.unlink(path)


def marked(queue: Queue) -> list[str]:
    """Return the stores that are to be scrubbed: every one there is, where a damaged queue does not tell which."""
    said = queue.meta(SCRUBBING).split()
    return said if all(map(valid_name, said)) else names(os.path.dirname(queue.path))


def mark(queue: Queue, store: str) -> None:
    """Have a store scrubbed, and the queue with it, by whoever comes to it."""
    queue.set_meta(SCRUBBING, " ".join(sorted({*marked(queue), store})))


def scrub(data: str, queue: Queue, opened: Callable[[str], SqliteStore]) -> list[str]:
    """Wipe the files of the marked stores, and the queue's, under the drain lock; return the stores left for later."""
    due = [name for name in marked(queue) if exists(data, name)]
    left = [name for name in due if not _store_wiped(opened, name)]
    if due and not _wiped(queue.db):
        left = due
    queue.set_meta(SCRUBBING, " ".join(left))
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
