"""A damaged database made anew of what can still be read of it. The damaged one is kept, whatever comes of it."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from tempfile import mkdtemp

from memman.clock import now_ms
from memman.config import stores
from memman.config.places import make_file, queue_path, store_path
from memman.config.schedule import refuse_stopped
from memman.config.tombstones import Tombstones
from memman.locks import drain_lock
from memman.model.errors import CannotWrite, ProviderMisconfigured, UnknownStore
from memman.providers import builtin_embedder
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.recovery.check import troubles
from memman.recovery.copies import REPAIRING, leftovers
from memman.recovery.exchange import exchange, rolled_back
from memman.recovery.salvage import PAGE, opened, refill_queue, refill_store
from memman.sqlite import checkpoint
from memman.store.opening import connected
from memman.store.replica import reach
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.backfill import fill
from memman.upkeep.relink import relink


@dataclass(frozen=True, slots=True)
class Recovered:
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


def recover(data: str, store: str) -> Recovered:
    """Make a store anew of what its digests say is sound. Raises Busy while a drain is at work, and UnknownStore."""
    refuse_stopped(data, "repair")
    path, what = store_path(data, stores.checked(store)), f"store {store!r}"
    if not _there(path):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")
    with drain_lock(data):
        wrong = _troubles(path, STORE)
        if not wrong:
            return Recovered(what, "")
        if store in connected(data):
            return _fetched(data, store, path, wrong)
        with (
            _workplace(path) as place,
            closing(SqliteStore(f"{place}/new.db")) as new,
            exchange(path, new.path) as old,
        ):
            old.copy(f"{place}/damaged.db", f"{place}/read.db")
            tables = ("memory", "receipt", "link", "meta", "log")
            with closing(opened(f"{place}/read.db", new.db, tables)) as read:
                kept, receipts, lost = refill_store(new, read, Tombstones.load(data))
            _derive(new)
            return Recovered(what, wrong, old.commit(f"{place}/damaged.db"), kept, receipts, lost)


def _fetched(data: str, store: str, path: str, wrong: str) -> Recovered:
    """Bring a replica anew from its server. Raises NoServer and ServerRefused, after which nothing is changed."""
    from memman.store.replica.store import ReplicaStore

    with _workplace(path) as place, closing(ReplicaStore.at(data, f"{place}/new.db", store)) as new:
        new.connect(store, make=False)
        new.pull()
        kept, receipts = (int(new.db.execute(f"SELECT count(*) FROM {name}").get) for name in ("memory", "receipt"))
        with exchange(path, new.path) as old:
            old.copy(f"{place}/damaged.db")
            aside = old.commit(f"{place}/damaged.db")
        may = reach.may(new.path)
    reach.reached(path, now_ms(), may)
    return Recovered(f"store {store!r}", wrong, aside, kept, receipts)


def recover_queue(data: str) -> Recovered:
    """Make the queue anew of every note that can be read. Raises Busy while a drain is at work."""
    refuse_stopped(data, "repair")
    path = queue_path(data)
    with drain_lock(data):
        wrong = _troubles(path, QUEUE) if _there(path) else ""
        if not wrong:
            return Recovered("queue", "")
        with (
            _workplace(path) as place,
            closing(open_queue(f"{place}/new.db")) as new,
            exchange(path, f"{place}/new.db") as old,
        ):
            old.copy(f"{place}/damaged.db", f"{place}/read.db")
            with closing(opened(f"{place}/read.db", new, ("note", "journal", "ledger", "meta"))) as read:
                kept, lost, doubtful = refill_queue(new, read)
            return Recovered("queue", wrong, old.commit(f"{place}/damaged.db"), kept, lost=lost, doubtful=doubtful)


def _there(path: str) -> bool:
    """Whether there is a database, or a log that one has left."""
    return any(os.path.exists(path + end) for end in ("", "-wal"))


def _troubles(path: str, steps: Mapping[int, str]) -> str:
    """Say what is wrong, once what repairs that were killed have left behind is gone."""
    for place in leftovers(os.path.dirname(path)):
        shutil.rmtree(place, ignore_errors=True)
    rolled_back(path)
    wrong = troubles(path, steps)
    make_file(path)
    if not os.path.getsize(path):  # SQLite deletes the log of an empty file
        os.truncate(path, PAGE)
    return wrong


def _derive(new: SqliteStore) -> None:
    """Work out built-in vectors, edges and the text index; without the judge's files only the last."""
    try:
        with builtin_embedder() as local:
            asyncio.run(fill(new, local))
            new.maintain()  # what is to be linked is looked for in a few cells of many
            relink(new, local.fingerprint, local)
    except ProviderMisconfigured:
        with new.unit() as unit:
            unit.renew([memory for (memory,) in new.db.execute("SELECT id FROM memory")])
    new.maintain()
    checkpoint(new.db)


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
