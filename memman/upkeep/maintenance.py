"""What every drain does at its end, so that nothing grows without bound."""

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial

from memman.config.asked import drop_asked
from memman.config.places import files_of, handovers_path, sessions_path
from memman.config.shown import RECEIPTS, Showing, put_back, taken
from memman.config.stores import exists
from memman.model.errors import NewerSchema, NoServer, NotSetUp, ServerRefused
from memman.queue.late import shorten
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue
from memman.sqlite import TranslatedErrors
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.rules import publish, put_back_hits, taken_hits

SESSION_DAYS = 7
# What keeps a store from being written to that no repair here mends.
_ELSEWHERE = (NoServer, ServerRefused, NewerSchema, NotSetUp)


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
            with _kept(partial(put_back, data, showings)):
                opened(name).count_shown(showings)
    for name, hits in taken_hits(data).items():
        if exists(data, name):
            with _kept(partial(put_back_hits, data, name, hits)):
                opened(name).count_hits(hits)
    publish(data)
    for store in stores.values():
        with suppress(*_ELSEWHERE):
            store.maintain()


@contextmanager
def _kept(put_back: Callable[[], None]) -> Iterator[None]:
    """Put back what cannot be counted as long as a store's server cannot be asked, or lets us only read."""
    try:
        yield
    except _ELSEWHERE:
        put_back()


def drop_sessions(data: str) -> None:
    """Remove what hooks knew about sessions in which nothing happened for SESSION_DAYS, but not what they were told.

    With it goes what such sessions left for the next.
    """
    oldest = time.time() - SESSION_DAYS * 86_400
    for path in (*files_of(sessions_path(data)), *files_of(handovers_path(data))):
        with suppress(OSError):
            if not os.path.basename(path).startswith(f"{RECEIPTS}-") and os.lstat(path).st_mtime < oldest:
                os.unlink(path)
