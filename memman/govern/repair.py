"""A damaged database made anew of what can still be read of it. The damaged one is kept, whatever comes of it."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from tempfile import mkdtemp

import apsw

from memman import wal
from memman.compose import builtin_embedder
from memman.config import stores
from memman.config.places import queue_path, store_path
from memman.config.schedule import refuse_stopped
from memman.drain.backfill import fill
from memman.drain.lock import drain_lock
from memman.govern.copies import REPAIRING, leftovers
from memman.govern.exchange import Exchange, exchange, rolled_back
from memman.govern.rebuild import relinked
from memman.govern.soundness import troubles
from memman.govern.tombstones import Tombstones
from memman.model.errors import CannotWrite, UnknownStore
from memman.queue.damage import DAMAGED, STATES, readable, teach_reading
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.queue.seal import DIGEST
from memman.sqlite import Guard, Transaction, checkpoint
from memman.store.sqlite import salvage
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.store import SqliteStore


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of a database: `wrong` is what was found, '' where nothing was; `aside` is where the old one lies.

    `kept` counts memories or notes, `receipts` what says that notes are done. `lost` names the memories that
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
    if not os.path.exists(path):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")
    what = f"store {store!r}"
    with drain_lock(data):
        wrong = _troubles(path, STORE)
        if not wrong:
            return Repaired(what, "")
        with _workplace(path) as place, closing(SqliteStore(f"{place}/new.db")) as new, exchange(path, new.path) as old:
            _copies(old, place, checked=True)
            kept, receipts, lost = _refilled(new, place, Tombstones.load(data))
            return Repaired(what, wrong, old.commit(f"{place}/damaged.db"), kept, receipts, lost)


def repair_queue(data: str) -> Repaired:
    """Make the queue anew of every note that can be read. Raises Busy while a drain is at work."""
    refuse_stopped(data, "repair")
    path = queue_path(data)
    with drain_lock(data):
        wrong = _troubles(path, QUEUE) if os.path.exists(path) else ""
        if not wrong:
            return Repaired("queue", "")
        with (
            _workplace(path) as place,
            closing(open_queue(f"{place}/new.db")) as new,
            exchange(path, f"{place}/new.db") as old,
        ):
            _copies(old, place, checked=False)
            kept, doubtful = _requeued(new, place)
            return Repaired("queue", wrong, old.commit(f"{place}/damaged.db"), kept, doubtful=doubtful)


def _troubles(path: str, steps: Sequence[str]) -> str:
    """Say what is wrong, once what repairs that were killed have left behind is gone."""
    for place in leftovers(os.path.dirname(path)):
        shutil.rmtree(place, ignore_errors=True)
    rolled_back(path)
    return troubles(path, steps)


def _refilled(new: SqliteStore, place: str, buried: Tombstones) -> tuple[int, int, tuple[str, ...]]:
    """Fill a new store; return how many memories and receipts it has, and the uids that are lost."""
    with closing(salvage.opened(place + "/read.db", checked=False)) as read:
        good, bad = salvage.memories(read, place + "/read.db")
        for row in [row for row in good.values() if row[1] in buried.memories or row[2] in buried.notes]:
            del good[row[0]]
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


def _requeued(new: apsw.Connection, place: str) -> tuple[int, tuple[str, ...]]:
    """Fill a new queue; return how many notes it has, and the uids of those that are parked as doubtful."""
    with closing(salvage.opened(place + "/read.db", checked=False)) as read, Guard(f"{place}/new.db"), Transaction(new):
        teach_reading(read)
        numbers = list(range(1, salvage.last_row(read, "note") + 1))
        there = _shared(read, new, "note")
        says = f"digest = {DIGEST}" if "digest" in there else "0"
        rows = salvage.by_key(read, "note", (*map(_column, there), says), numbers)
        kept = [row for row in rows if _inserted(new, "note", there, row[:-1])]
        state = there.index("state") if kept else 0
        doubtful = [row for row in kept if not row[-1] and row[state] not in {"done", "parked"}]
        for row in doubtful:
            new.execute("UPDATE note SET state = 'parked', error = ? WHERE id = ?", (DAMAGED, row[0]))
        for table in ("journal", "ledger", "meta"):
            columns = _shared(read, new, table)
            for row in salvage.rows(read, table, columns):
                _inserted(new, table, columns, row)
        return len(kept), tuple(str(row[1]) for row in doubtful)


def _column(name: str) -> str:
    """Write the SQL for a column of a note: a state that is none has it parked."""
    return f"iif(state IN {STATES}, state, 'parked')" if name == "state" else readable(name)


def _shared(read: apsw.Connection, db: apsw.Connection, table: str) -> tuple[str, ...]:
    """Return the columns of a table: an older queue lacks the newest, which have defaults."""
    names = salvage.columns(db, table)
    return tuple(name for name in salvage.columns(read, table) if name in names)


def _inserted(db: apsw.Connection, table: str, columns: tuple[str, ...], row: tuple[object, ...]) -> bool:
    sql = f"INSERT OR IGNORE INTO {table}({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
    try:
        db.execute(sql, row)
    except (apsw.Error, OverflowError):
        return False
    return db.changes() == 1


@contextmanager
def _workplace(path: str) -> Iterator[str]:
    """Give a private folder beside a database, and remove it afterwards."""
    try:
        place = mkdtemp(prefix=REPAIRING, dir=os.path.dirname(path))
    except OSError as error:
        raise CannotWrite(f"{os.path.dirname(path)} cannot be written to ({error.strerror})") from error
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _copies(old: Exchange, place: str, *, checked: bool) -> None:
    """Copy a database with its log: to be kept, to be read as it is, and with its pages checked."""
    for name in ("damaged.db", "read.db", "sound.db"):
        old.copy(f"{place}/{name}")
    for name in ("read.db", "sound.db"):
        wal.mend(f"{place}/{name}")
        salvage.mend_header(f"{place}/{name}", checked=checked)
