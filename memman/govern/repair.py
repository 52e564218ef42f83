"""A damaged database made anew of what can still be read of it. The damaged one is kept, whatever comes of it."""

import asyncio
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from tempfile import mkdtemp

from memman import wal
from memman.config import stores
from memman.config.places import make_file, open_file, queue_path, store_path
from memman.config.schedule import refuse_stopped
from memman.drain.backfill import fill
from memman.drain.lock import drain_lock
from memman.govern.copies import REPAIRING, leftovers
from memman.govern.exchange import Exchange, exchange, rolled_back
from memman.govern.rebuild import relinked
from memman.govern.requeue import requeued
from memman.govern.soundness import troubles
from memman.govern.tombstones import Tombstones
from memman.model.errors import CannotWrite, UnknownStore
from memman.providers import builtin_embedder
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.sqlite import checkpoint
from memman.store.sqlite import salvage
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.store import SqliteStore


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of a database: `wrong` is what was found, '' where nothing was; `aside` is where the old one lies.

    `kept` counts memories or notes, `receipts` what says that notes are done. `lost` names those that
    are gone; `doubtful` are notes whose words may be damaged, parked for a person to look at.
    """

    what: str
    wrong: str
    aside: str = ""
    kept: int = 0
    receipts: int = 0
    lost: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()


def repair(data: str, store: str) -> Repaired:
    """Make a store anew of what its digests say is sound. Raises Busy while a drain is at work, and UnknownStore."""
    refuse_stopped(data, "repair")
    path = store_path(data, stores.checked(store))
    if not _there(path):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")
    what = f"store {store!r}"
    with drain_lock(data):
        wrong = _troubles(path, STORE)
        if not wrong:
            return Repaired(what, "")
        with (
            _workplace(path) as place,
            closing(SqliteStore(f"{place}/new.db")) as new,
            exchange(_founded(path, checked=True), new.path) as old,
        ):
            images = _copies(old, place, checked=True)
            kept, receipts, lost = _refilled(new, place, images, Tombstones.load(data))
            return Repaired(what, wrong, old.commit(f"{place}/damaged.db"), kept, receipts, lost)


def repair_queue(data: str) -> Repaired:
    """Make the queue anew of every note that can be read. Raises Busy while a drain is at work."""
    refuse_stopped(data, "repair")
    path = queue_path(data)
    with drain_lock(data):
        wrong = _troubles(path, QUEUE) if _there(path) else ""
        if not wrong:
            return Repaired("queue", "")
        with (
            _workplace(path) as place,
            closing(open_queue(f"{place}/new.db")) as new,
            exchange(_founded(path, checked=False), f"{place}/new.db") as old,
        ):
            images = _copies(old, place, checked=False)
            kept, lost, doubtful = requeued(new, f"{place}/read.db", images)
            return Repaired("queue", wrong, old.commit(f"{place}/damaged.db"), kept, lost=lost, doubtful=doubtful)


def _there(path: str) -> bool:
    """Whether there is a database, or a log that one has left."""
    return any(os.path.exists(path + end) for end in ("", "-wal"))


def _founded(path: str, *, checked: bool) -> str:
    """Have SQLite keep the log of a file that is empty, or gone, and return the path."""
    make_file(path)
    if not os.path.getsize(path):
        wal.found(path)
        salvage.mend_header(path, checked=checked)
    return path


def _troubles(path: str, steps: Sequence[str]) -> str:
    """Say what is wrong, once what repairs that were killed have left behind is gone."""
    for place in leftovers(os.path.dirname(path)):
        shutil.rmtree(place, ignore_errors=True)
    rolled_back(path)
    return troubles(path, steps)


def _refilled(
    new: SqliteStore, place: str, images: Iterable[bytes], buried: Tombstones
) -> tuple[int, int, tuple[str, ...]]:
    """Fill a new store; return how many memories and receipts it has, and the uids that are lost."""
    with closing(salvage.opened(place + "/read.db", checked=False)) as read:
        good, bad = salvage.memories(read, images)
        for row in [row for row in good.values() if row.uid in buried.memories or row.note in buried.notes]:
            del good[row.id]
        whole = not bad and salvage.whole(read)  # then nothing but checksums is wrong: all of it can be kept
        with closing(salvage.opened(place + "/sound.db", checked=not whole)) as sound:
            receipts = salvage.refill(new, sound, read, good)
    with builtin_embedder() as local:
        asyncio.run(fill(new, local))
        new.maintain()  # what is to be linked is looked for in a few cells of many
        relinked(new, local.fingerprint, local, lambda done, total: None)  # noqa: ARG005
    new.maintain()
    checkpoint(new.db)
    return len(good), receipts, tuple(bad.values())


@contextmanager
def _workplace(path: str) -> Iterator[str]:
    """Give a private folder beside a database, and remove it afterwards."""
    try:
        place = mkdtemp(prefix=REPAIRING, dir=os.path.dirname(path))
    except OSError as error:
        raise CannotWrite(f"{os.path.dirname(path)} is not writable ({error.strerror})") from error
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copies(old: Exchange, place: str, *, checked: bool) -> list[bytes]:
    """Copy a database with its log: to be kept, to be read as it is, and with its pages checked.

    Return all pages that there are, without and with those of the log that SQLite no longer sees.
    """
    for name in ("damaged.db", "read.db", "sound.db"):
        old.copy(f"{place}/{name}")
    wal.mend(f"{place}/sound.db")
    strays = wal.settle(f"{place}/read.db")
    for name in ("read.db", "sound.db"):
        salvage.mend_header(f"{place}/{name}", checked=checked)
    with open(f"{place}/read.db", "rb", opener=open_file) as file:
        return [file.read(), strays]
