"""A damaged database made anew of what can still be read of it. The damaged one is kept, whatever comes of it."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from tempfile import mkdtemp
from typing import BinaryIO

import apsw

from memman.config import stores
from memman.config.places import fsync_folder, make_file, make_folder, open_file, queue_path, store_path
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
from memman.recovery.manifest import backups_path, listed
from memman.recovery.rebuild import Copies, rebuilt
from memman.recovery.salvage import PAGE, opened, refill_queue
from memman.sqlite import WAIT_MS, TranslatedErrors, checkpoint, open_reader, trust_pages
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.schema import VERSION
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.idle import UPGRADING

# How SQLite says of a file's first page that it cannot be what it was.
_NO_HEADER = (apsw.NotADBError, apsw.CorruptError, apsw.ReadOnlyError)


@contextmanager
def exchange(path: str, place: str) -> Iterator[Callable[[], str]]:
    """Hold off all who write to the database at `path`, for `new.db` in the folder `place`; copy it to `read.db` there.

    What is yielded puts the new content in force and returns where the old file is kept; until then more may be
    written to `new.db`, which must have a table: the lock is that of a copying which has not begun yet. Raises Busy.

    No file is put in the place of another: whoever has it open stays with it, its log is never parted from it, and what
    cuts the exchange short leaves all of the old or all of the new.
    """
    with TranslatedErrors(path), ExitStack() as stack:
        # To close any handle of a file frees all locks that this process has on it: this one is closed last.
        original = stack.enter_context(open(path, "rb", opener=open_file))
        source = stack.enter_context(closing(apsw.Connection(f"{place}/new.db")))
        live, backup = _locked(path, source)
        stack.enter_context(closing(live))
        for target in (f"{place}/damaged.db", f"{place}/read.db"):
            original.seek(0)
            _written(original, target)
            with suppress(FileNotFoundError), open(path + "-wal", "rb", opener=open_file) as log:
                _written(log, target + "-wal")  # no checkpoint can cut it short now

        def commit() -> str:
            aside = _free(path)
            for end in ("-wal", ""):
                with suppress(FileNotFoundError):
                    os.rename(f"{place}/damaged.db{end}", aside + end)
            fsync_folder(os.path.dirname(path))
            while not backup.done:
                backup.step(-1)
            return aside

        with backup:
            yield commit
        if backup.done:
            checkpoint(live)


def rolled_back(path: str) -> None:
    """Have SQLite undo what an exchange that was killed left half written; only who may write can."""
    if os.path.exists(path + "-journal"):
        with TranslatedErrors(path), closing(_live(path)) as live, suppress(*_NO_HEADER):
            live.execute("SELECT 1 FROM sqlite_master LIMIT 1").get  # noqa: B018 - the first read does it


def _live(path: str) -> apsw.Connection:
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.set_busy_timeout(WAIT_MS)
    db.wal_autocheckpoint(0)
    with suppress(apsw.Error):
        trust_pages(db)
    return db


def _locked(path: str, source: apsw.Connection) -> tuple[apsw.Connection, apsw.Backup]:
    """Open the file at `path` and take its write lock; one whose header says nothing is taken for an empty one."""
    try:
        return _begun(_live(path), source)
    except _NO_HEADER:
        live = _live(path)
        live.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
        return _begun(live, source)


def _begun(live: apsw.Connection, source: apsw.Connection) -> tuple[apsw.Connection, apsw.Backup]:
    """Begin to copy `source` into `live`, which takes its write lock, but no page yet."""
    backup = live.backup("main", source, "main")
    try:
        backup.step(0)
    except BaseException:
        backup.close(force=True)
        live.close()
        raise
    return live, backup


def _written(source: BinaryIO, target: str) -> None:
    make_file(target)
    with open(target, "wb", opener=open_file) as file:
        shutil.copyfileobj(source, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())


def _free(path: str) -> str:
    """Return the name of the first second from now on under which nothing is kept yet."""
    now = int(time.time())
    while os.path.lexists(aside := time.strftime(f"{path}.damaged-%Y%m%dT%H%M%SZ", time.gmtime(now))):
        now += 1
    return aside


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
