"""A damaged database made anew of what can still be read of it. The damaged one is kept, whatever comes of it."""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from tempfile import mkdtemp

import apsw

from memman.compose import builtin_embedder
from memman.config import stores
from memman.config.places import queue_path, settle, store_path
from memman.config.schedule import refuse_stopped
from memman.drain.backfill import fill
from memman.drain.lock import drain_lock
from memman.govern.rebuild import relinked
from memman.govern.soundness import troubles
from memman.govern.tombstones import Tombstones
from memman.model.errors import CannotWrite, UnknownStore
from memman.queue.damage import DAMAGED, STATES, readable, teach_reading
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.queue.seal import DIGEST
from memman.sqlite import COMPANIONS, Guard, checkpoint
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
        wrong = troubles(path, STORE)
        if not wrong:
            return Repaired(what, "")
        with _workplace(path) as place:
            return _store(data, what, path, place, wrong)


def repair_queue(data: str) -> Repaired:
    """Make the queue anew of every note that can be read. Raises Busy while a drain is at work."""
    refuse_stopped(data, "repair")
    path = queue_path(data)
    with drain_lock(data):
        wrong = troubles(path, QUEUE) if os.path.exists(path) else ""
        if not wrong:
            return Repaired("queue", "")
        with _workplace(path) as place:
            return _queue(path, place, wrong)


def _store(data: str, what: str, path: str, place: str, wrong: str) -> Repaired:
    new = f"{place}/new.db"
    with closing(salvage.opened(place + "/read.db", checked=False)) as read:
        good, bad = salvage.memories(read, place + "/read.db")
        buried = Tombstones.load(data)
        for row in [row for row in good.values() if row[1] in buried.memories or row[2] in buried.notes]:
            del good[row[0]]
        whole = not bad and salvage.whole(read)  # then nothing but checksums is wrong: all of it can be kept
        with (
            closing(salvage.opened(place + "/sound.db", checked=not whole)) as sound,
            closing(SqliteStore(new)) as store,
        ):
            receipts = salvage.refill(store, sound, read, good)
            with builtin_embedder() as local:
                asyncio.run(fill(store, local))
                relinked(store, local.fingerprint, local, lambda done, total: None)  # noqa: ARG005
            store.maintain()
    aside = _exchange(path, new)
    return Repaired(what, wrong, aside, len(good), receipts, tuple(bad.values()))


def _queue(path: str, place: str, wrong: str) -> Repaired:
    new = f"{place}/new.db"
    with (
        closing(salvage.opened(place + "/read.db", checked=False)) as read,
        closing(open_queue(new)) as db,
    ):
        teach_reading(read)
        numbers = list(range(1, salvage.last_row(read, "note") + 1))
        there = _shared(read, db, "note")
        says = f"digest = {DIGEST}" if "digest" in there else "0"
        rows = list(salvage.by_key(read, "note", (*map(_column, there), says), numbers))
        with Guard(new):
            kept = [row for row in rows if _inserted(db, "note", there, row[:-1])]
            state = there.index("state")
            doubtful = [row for row in kept if not row[-1] and row[state] not in {"done", "parked"}]
            for row in doubtful:
                db.execute("UPDATE note SET state = 'parked', error = ? WHERE id = ?", (DAMAGED, row[0]))
            for table in ("journal", "ledger", "meta"):
                columns = _shared(read, db, table)
                for row in salvage.rows(read, table, columns):
                    _inserted(db, table, columns, row)
            checkpoint(db)
    aside = _exchange(path, new)
    uids = tuple(str(row[1]) for row in doubtful)
    return Repaired("queue", wrong, aside, len(kept), doubtful=uids)


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
    """Give a private folder beside a database with two copies of it and its log, and remove it afterwards."""
    try:
        place = mkdtemp(prefix=".repair-", dir=os.path.dirname(path))
    except OSError as error:
        raise CannotWrite(f"{os.path.dirname(path)} cannot be written to ({error.strerror})") from error
    try:
        with Guard(path):
            for copy in ("read.db", "sound.db"):
                for end in ("", "-wal"):
                    if os.path.exists(path + end):
                        shutil.copyfile(path + end, f"{place}/{copy}{end}")
                        os.chmod(f"{place}/{copy}{end}", 0o600)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _exchange(path: str, new: str) -> str:
    """Put a new database in the place of the old one, which stays beside it under the name that is returned."""
    aside = f"{path}.damaged-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}"
    with Guard(path):
        os.link(path, aside)
        for end in COMPANIONS[1:]:
            with suppress(FileNotFoundError):
                os.rename(path + end, aside + end)
        settle(os.path.dirname(path))
        os.replace(new, path)
        settle(os.path.dirname(path))
    return aside
