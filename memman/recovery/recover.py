"""A damaged database made anew of what can still be read of it. The damaged one is kept, whatever comes of it."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from tempfile import mkdtemp

import apsw

from memman.config import stores
from memman.config.places import make_file, make_folder, queue_path, store_path
from memman.config.schedule import refuse_stopped
from memman.config.tombstones import Tombstones
from memman.locks import drain_lock
from memman.model.errors import CannotWrite, MemmanError, UnknownStore
from memman.queue.notes import Queue
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.recovery.backup import faults
from memman.recovery.check import Steps, troubles
from memman.recovery.copies import REPAIRING, sweep
from memman.recovery.exchange import exchange, rolled_back
from memman.recovery.manifest import backups_path, listed
from memman.recovery.rebuild import Copies, rebuilt
from memman.recovery.salvage import PAGE, opened, refill_queue
from memman.sqlite import open_reader
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.schema import VERSION
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.idle import UPGRADING


@dataclass(frozen=True, slots=True)
class Recovered:
    """What became of a database: `wrong` is what was found, '' where nothing was; `aside` is where the old one lies.

    `kept` counts memories or notes. Of a store, `damaged` counts records of its log, `replaced` those of them that a
    backup had. `lost` names memories or notes that are gone; the words of `doubtful` notes may be damaged: they are
    parked for a person to look at.
    """

    what: str
    wrong: str
    aside: str = ""
    kept: int = 0
    lost: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    damaged: int = 0
    replaced: int = 0


def recover(data: str, store: str) -> Recovered:
    """Make a store anew from its log. Raises Busy while a drain is at work, and UnknownStore."""
    refuse_stopped(data, "repair")
    if not _there(store_path(data, stores.checked(store))):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")
    with drain_lock(data):
        sweep(data)
        return mended(data, store) or Recovered(f"store {store!r}", "")


def mended(data: str, store: str) -> Recovered | None:
    """Make a store anew where it is there and damaged, under the drain lock."""
    path, what = store_path(data, store), f"store {store!r}"
    wrong = _troubles(path, STORE) if _there(path) else ""
    if not wrong:
        return None
    with (
        ExitStack() as stack,
        workplace(path) as place,
        closing(SqliteStore(f"{place}/new.db")) as new,
        exchange(path, place) as commit,
    ):
        with (
            closing(opened(f"{place}/read.db", new.db, ("record", "host"))) as every,
            closing(apsw.Connection(f"{place}/read.db")) as checked,
        ):
            log = rebuilt(new, Copies(every, checked), _backed_up(stack, data, store), Tombstones.load(data))
        kept = int(new.db.execute("SELECT count(*) FROM memory").get)
        aside = commit()
    with suppress(MemmanError), closing(Queue(data)) as queue:  # one that is damaged too is repaired by itself
        queue.set_meta(UPGRADING, "1")
    return Recovered(what, wrong, aside, kept, **log._asdict())


def _backed_up(stack: ExitStack, data: str, store: str) -> apsw.Connection | None:
    """Open what the newest sound backup has of a store."""
    for name, manifest in listed(data).items():
        folder, part = f"{backups_path(data)}/{name}", manifest and manifest.stores.get(store)
        if part and part.schema == VERSION and not [*faults(folder, [part])]:
            return stack.enter_context(closing(open_reader(f"{folder}/{part.file}")))
    return None


def recover_queue(data: str) -> Recovered:
    """Make the queue anew of every note that can be read. Raises Busy while a drain is at work."""
    refuse_stopped(data, "repair")
    path = queue_path(data)
    with drain_lock(data):
        sweep(data)
        wrong = _troubles(path, QUEUE) if _there(path) else ""
        if not wrong:
            return Recovered("queue", "")
        with (
            workplace(path) as place,
            closing(open_queue(f"{place}/new.db")) as new,
            exchange(path, place) as commit,
        ):
            with closing(opened(f"{place}/read.db", new, ("note", "journal", "ledger", "meta"))) as read:
                kept, lost, doubtful = refill_queue(new, read)
            return Recovered("queue", wrong, commit(), kept, lost=lost, doubtful=doubtful)


def _there(path: str) -> bool:
    """Whether there is a database, or a log that one has left."""
    return any(os.path.exists(path + end) for end in ("", "-wal"))


def _troubles(path: str, steps: Steps) -> str:
    """Say what is wrong."""
    rolled_back(path)
    wrong = troubles(path, steps)
    make_file(path)
    if not os.path.getsize(path):  # SQLite deletes the log of an empty file
        os.truncate(path, PAGE)
    return wrong


@contextmanager
def workplace(path: str) -> Iterator[str]:
    """Give a private folder beside a database, and remove it afterwards."""
    make_folder(os.path.dirname(path))
    try:
        place = mkdtemp(prefix=REPAIRING, dir=os.path.dirname(path))
    except OSError as error:
        raise CannotWrite(f"{os.path.dirname(path)} is not writable ({error.strerror})") from error
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
