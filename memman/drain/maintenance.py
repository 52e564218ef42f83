"""What every drain does at its end, so that nothing grows without bound."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import suppress

from memman.config.places import shown_path
from memman.config.stores import exists, valid_name
from memman.drain.backfill import renew
from memman.embed import Embedder
from memman.queue.ledger import Ledger
from memman.queue.notes import Queue
from memman.sqlite import Guard
from memman.store.sqlite.store import SqliteStore


async def maintain(
    data: str,
    queue: Queue,
    ledger: Ledger,
    stores: Mapping[str, SqliteStore],
    opened: Callable[[str], SqliteStore],
    local: Callable[[], Embedder],
) -> None:
    """Tidy the queue, the ledger, and every store that was opened or read from."""
    queue.maintain()
    with Guard(queue.path):
        ledger.maintain()
    for name, uses in taken_shown(data).items():
        if exists(data, name):
            opened(name).count_uses(uses)
    for store in stores.values():
        await renew(store, local())
        store.maintain()


def taken_shown(data: str) -> dict[str, Counter[str]]:
    """Take the record of what recall showed: how often each memory of each store was."""
    path = shown_path(data)
    taken = path + ".taken"
    with suppress(OSError):
        os.replace(path, taken)
    uses: dict[str, Counter[str]] = {}
    with suppress(OSError), open(taken, encoding="ascii", errors="replace") as lines:
        for line in lines:
            _, store, *uids = (*line.split(), "", "")
            # A line may be half-written: the disk was full, or the power went.
            if valid_name(store):
                uses.setdefault(store, Counter()).update(filter(None, uids))
    with suppress(OSError):
        os.remove(taken)
    return uses
