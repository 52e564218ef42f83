"""A damaged store made anew from its log and the last backup, a damaged queue from the notes that can be read.

The damaged file is kept, whatever comes of it.
"""

import os
import shutil
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from tempfile import mkdtemp
from typing import Any, BinaryIO

import apsw

from memman.clock import now_ms
from memman.config import stores
from memman.config.drain_by_write import ask
from memman.config.places import fsync_folder, make_file, make_folder, open_file, queue_path, store_path
from memman.config.purged import Tombstones
from memman.config.schedule import refuse_stopped
from memman.locks import drain_lock
from memman.model.errors import CannotWrite, MemmanError, UnknownStore
from memman.model.records import Fingerprint
from memman.model.vocabulary import BRANCH_OF, CONNECTED, REPLACED, REWRITTEN, UNDONE
from memman.queue.notes import Queue
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.recovery.backup import backups_path, faults, listed
from memman.recovery.check import Steps, troubles
from memman.recovery.copies import REPAIRING, sweep
from memman.sqlite import WAIT_MS, Transaction, TranslatedErrors, checkpoint, open_reader, trust_pages
from memman.store import records
from memman.store.records import Record
from memman.store.sqlite import index, record_log
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.record_log import OURS
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.schema import VERSION
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.idle import UPGRADING

Row = tuple[Any, ...]
PAGE = 4096
# Where a first page says how many pages there are; where it says nothing, SQLite goes by the file's length.
_SIZE = 28
# How SQLite says of a file's first page that it cannot be what it was.
_NO_HEADER = (apsw.NotADBError, apsw.CorruptError, apsw.ReadOnlyError)
# What the disk, the memory or another process is to blame for, and the errors of reading that the file is.
_ELSEWHERE = (apsw.FullError, apsw.NoMemError, apsw.CantOpenError, apsw.BusyError)
_ITS_OWN = (apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ)
# All that reading a damaged file may end with.
_DAMAGE = (apsw.Error, UnicodeDecodeError, OverflowError)
# Rows that are read at once; a row id beyond the last is a damaged number; bytes of the shortest row.
_AT_ONCE, _LAST, _SHORTEST = 512, 100_000_000, 60

_RECORD = ("id", "host", *Record._fields[1:], "sum")
# Settings that follow from no record: what undos name, embedders' habits, which server or branch a store is.
_KEYS = (REPLACED, UNDONE, CONNECTED, BRANCH_OF, REWRITTEN)
# What is in no record, since it concerns this machine alone, or tells what recall has learned; and what of it names
# memories by row.
_LOCAL: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("meta", ("key", "value"), " OR ".join(f"key GLOB '{key}*'" for key in _KEYS)),
    ("turn", ("note", "typed"), "1"),
)
_BESIDE = {"shown": ("memory", "session", "way", "agent", "at", "times", "tokens")}
_UNCLOSED = (
    "SELECT note, min(recorded_at), count(*) FROM memory WHERE note NOT IN (SELECT note FROM receipt) GROUP BY note"
)
_UIDS = "SELECT memory FROM record WHERE memory <> '' GROUP BY memory ORDER BY min(id)"


@dataclass(slots=True)
class Repaired:
    """What became of a database: `wrong` is what was found, '' where nothing was; `aside` is where the old one lies.

    `kept` counts memories or notes, and `lost` names those that are gone. Of a store, `damaged` counts records of its
    log, `replaced` those of them that a backup had.
    """

    what: str
    wrong: str = ""
    aside: str = ""
    kept: int = 0
    lost: tuple[str, ...] = ()
    damaged: int = 0
    replaced: int = 0


def missing(store: str) -> UnknownStore:
    """Say that a store has no file, and what may bring it back."""
    says = (
        f"store {store!r} has no file to repair: `memman backup list` shows what `memman backup restore ID` brings back"
    )
    return UnknownStore(says)


def repair(data: str, store: str) -> Repaired:
    """Make a store anew from its log. Raises Busy while a drain is at work, and UnknownStore."""
    refuse_stopped(data, "repair")
    path, done = store_path(data, stores.checked(store)), Repaired(f"store {store!r}")
    if not _there(path):
        raise missing(store)
    with drain_lock(data):
        sweep(data)
        done.wrong = _troubles(path, STORE)
        if not done.wrong:
            return done
        with (
            ExitStack() as stack,
            workplace(path) as place,
            closing(SqliteStore(f"{place}/new.db")) as new,
            exchange(path, place) as commit,
        ):
            with (
                closing(_opened(f"{place}/read.db", new.db, ("record", "host"))) as every,
                closing(apsw.Connection(f"{place}/read.db")) as sound,
            ):
                _rebuild(done, new, every, sound, _backed_up(stack, data, store), Tombstones.load(data))
            done.kept = int(new.db.execute("SELECT count(*) FROM memory").get)
            done.aside = commit()
    with suppress(MemmanError), closing(Queue(data)) as queue:  # one that is damaged too is repaired by itself
        queue.set_meta(UPGRADING, "1")
    ask(data)  # for what was noted while the store could not be read
    return done


def repair_queue(data: str) -> Repaired:
    """Make the queue anew of every note that can be read. Raises Busy while a drain is at work."""
    refuse_stopped(data, "repair")
    path, done = queue_path(data), Repaired("queue")
    with drain_lock(data):
        sweep(data)
        done.wrong = _troubles(path, QUEUE) if _there(path) else ""
        if not done.wrong:
            return done
        with workplace(path) as place, closing(open_queue(f"{place}/new.db")) as new, exchange(path, place) as commit:
            with closing(_opened(f"{place}/read.db", new, ("note", "journal", "ledger", "meta"))) as read:
                names = {table: _columns(new, table) for table in ("note", "journal", "ledger", "meta")}
                with TranslatedErrors(new.filename), Transaction(new):
                    _insert(new, "note", names["note"], _by_id(read, "note", names["note"]))
                    for table in ("journal", "ledger", "meta"):
                        _insert(new, table, names[table], _rows(read, table, names[table]))
                kept = {str(uid) for (uid,) in new.execute("SELECT uid FROM note")}
                gone = {str(uid) for uid, _ in _rows(read, "note", ("uid", "id"))} - kept
                done.lost = tuple(sorted(gone - _stored(data, gone)))
            done.kept, done.aside = len(kept), commit()
            return done


def _stored(data: str, notes: Collection[str]) -> set[str]:
    """Return those of `notes` that a store has learned: their row is gone, and nothing else."""
    found: set[str] = set()
    for name in stores.names(data):
        with suppress(MemmanError), Catalogue.open(store_path(data, name)) as catalogue:
            found |= {note for note in notes if catalogue.reader.has_receipt(note)}
    return found


def _backed_up(stack: ExitStack, data: str, store: str) -> apsw.Connection | None:
    """Open what the newest sound backup has of a store."""
    for name, manifest in listed(data).items():
        folder, part = f"{backups_path(data)}/{name}", manifest and manifest.stores.get(store)
        if part and part.schema == VERSION and not [*faults(folder, [part])]:
            return stack.enter_context(closing(open_reader(f"{folder}/{part.file}")))
    return None


def _rebuild(
    done: Repaired,
    new: SqliteStore,
    every: apsw.Connection,
    sound: apsw.Connection,
    backup: apsw.Connection | None,
    buried: Tombstones,
) -> None:
    """Fill a new store with the records of a damaged file, from a backup with those that are not right, and index it.

    Records are read whatever the checksums of their pages say (`every`), all else from `sound` pages alone.
    """
    old = [*record_log.every(backup)] if backup else []
    with new.unit() as unit:
        db = unit.db
        found = set(_taken(db, every, sound, {one.host for one in old}))
        known = record_log.known(db)
        gaps = {(name, n) for name, last in known.items() for n in range(1, last + 1)} - found
        if not known or not known.keys().isdisjoint(one.host for one in old):  # else it is of another store
            gaps |= {(one.host, one.n) for one in old} - found
        gone = {one.memory for one in old if buried.hold(one.act, one.memory) or one.memory in buried.notes}
        back = [one for one in old if (one.host, one.n) in gaps]
        again = record_log.add(db, [one._replace(body="") if one.memory in gone else one for one in back])
        record_log.fill_gaps(db)
    done.damaged, done.replaced = len(gaps), len(again)
    uids = [uid for (uid,) in new.db.execute(_UIDS)]
    for first in range(0, len(uids), _AT_ONCE):
        with new.unit() as unit:
            unit.settle(index.rewrite(unit.db, uids[first : first + _AT_ONCE]))
        checkpoint(new.db)  # the words of a large store would make its log several times the file
    if done.damaged > done.replaced:
        done.lost = tuple(_lost(new, sound, buried))
    with new.unit() as unit:
        unit.db.execute("UPDATE memory SET screened = 0")  # the log may be older than today's rules for secrets
        unclosed: list[Any] = unit.db.execute(_UNCLOSED).fetchall()  # a note that waits would be stored again
        for note, at, facts in unclosed:
            unit.record(at, note, "note", {records.RECEIPT: {"at": at, "outcome": "stored", "facts": facts}})
    for source in filter(None, (backup, sound)):
        _keep(new, source)


def _taken(
    db: apsw.Connection, every: apsw.Connection, sound: apsw.Connection, others: Collection[str]
) -> Iterator[tuple[str, int]]:
    """Take over the records that are right; yield host and number. A damaged host has a name that a backup knows."""
    hosts = _rows(sound, "host", ("id", "name", "n", "at", "ours"))
    _insert(db, "host", ("id", "name", "n", "at", "ours"), hosts)
    fits = {row: name for row, name, *_ in hosts}
    names: dict[int, Any] = dict(_rows(every, "host", ("id", "name")))
    for number, host, *said, total in _by_id(every, "record", _RECORD):
        named = [fits[host]] if host in fits else [names.get(host, ""), *others]
        told = (Record(str(name), *said) for name in named)
        one = next((one for one in told if one.sum == total or (host in fits and not one.body)), None)
        if not one or records.wrong(one):
            continue
        if host not in fits:
            fits[host] = one.host
            _insert(db, "host", ("id", "name", "ours"), [(host, one.host, host == OURS)])
        _insert(db, "record", _RECORD, [(number, host, *one[1:], total)])
        db.execute("UPDATE host SET n = max(n, ?), at = max(at, ?) WHERE id = ?", (one.n, one.at, host))
        yield one.host, one.n


def _lost(new: SqliteStore, sound: apsw.Connection, buried: Tombstones) -> list[str]:
    """Return the memories that the old index has and of which no record is left; what was forgotten there stays so."""
    stood: dict[str, str] = dict(_rows(sound, "memory", ("uid", "status")))
    with new.unit() as unit:
        for uid in (uid for uid, status in stood.items() if status == "forgotten"):
            if row := index.row_of(unit.db, uid):
                unit.forget(row, now_ms())
        gone = buried.notes | {one for (one,) in unit.db.execute("SELECT memory FROM record WHERE kind = 'purged'")}
        there = gone | {uid for (uid,) in unit.db.execute("SELECT uid FROM memory")}
    return sorted(uid for uid in stood.keys() - there if not buried.hold("", uid))


def _keep(new: SqliteStore, old: apsw.Connection) -> None:
    """Take over what no record has: what was shown and typed here, how often, and the sound vectors and edges.

    What lacks a vector drains make, and edges all once more: nobody knows which are missing.
    """
    with new.unit() as unit:
        db = unit.db
        both = [*_rows(old, "memory", ("id", "uid")), *(one[::-1] for one in _rows(old, "memory", ("uid", "id")))]
        now = {row: index.row_of(db, str(uid)) for row, uid in both}  # by the table, and by the index of its uids
        for table, names, where in _LOCAL:
            _insert(db, table, names, _rows(old, table, names, where))
        for table, names in _BESIDE.items():
            rows = ((now.get(memory), *others) for memory, *others in _rows(old, table, names))
            _insert(db, table, names, (row for row in rows if row[0]))
        used, fired = _rows(old, "memory", ("uses", "uid")), _rows(old, "rule", ("hits", "hit_at", "uid"))
        db.executemany("UPDATE memory SET uses = ? WHERE uid = ?", used)
        db.executemany("UPDATE rule SET hits = ?, hit_at = ? WHERE uid = ?", fired)
        embedders = _rows(old, "embedder", ("id", "provider", "model", "dimension"))
        makers = {number: Fingerprint(*made) for number, *made in embedders}
        # In the order of the table's key: whatever is sorted cannot be read beyond a damaged page.
        for number, row, *vector in _rows(old, "vector", ("embedder", "memory", "planes", "squares")):
            if number in makers and (there := now.get(row)):
                unit.put_vectors(unit.embedder(makers[number]), [(there, 0, *vector)])
        links = _rows(old, "link", ("src", "kind", "dst", "weight", "detail"))
        ends = [(now.get(src), kind, now.get(dst), *how) for src, kind, dst, *how in links]
        _insert(db, "link", ("src", "kind", "dst", "weight", "detail"), [one for one in ends if one[0] and one[2]])
        left = [now[row] for (row,) in _rows(old, "outdated", ("memory",)) if now.get(row)]
        db.execute("DELETE FROM outdated")
        _insert(db, "outdated", ("memory",), [(row,) for row in left])
    new.maintain()
    checkpoint(new.db)


def _opened(path: str, new: apsw.Connection, tables: Sequence[str]) -> apsw.Connection:
    """Open a copy of a damaged file; where SQLite does not make out its tables, by the schema of the `new` one.

    Tables begin on the same pages in all files that were made by the same steps.
    """
    db = _unchecked(path)
    if all(_columns(db, table) == _columns(new, table) for table in tables):
        return db
    db.close()
    checkpoint(new)
    found = _read(new, "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'") or [(1,)]
    with open(path, "r+b", opener=open_file) as file, open(new.filename, "rb", opener=open_file) as other:
        for (page,) in found:
            other.seek((page - 1) * PAGE)
            file.seek((page - 1) * PAGE)
            file.write(other.read(PAGE))
        file.seek(_SIZE)
        file.write(bytes(4))
    return _unchecked(path)


def _unchecked(path: str) -> apsw.Connection:
    """Open a file, with as much of its schema as can be read, its pages taken as they are."""
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    with _passing_over():
        trust_pages(db)
    _read(db, "PRAGMA writable_schema = ON")
    return db


@contextmanager
def _passing_over() -> Iterator[None]:
    """Go on after what damage keeps from being done; what a disk or want of room does is raised."""
    try:
        yield
    except _DAMAGE as error:
        _refuse_others(error)


def _refuse_others(error: Exception) -> None:
    alien = isinstance(error, apsw.IOError) and getattr(error, "extendedresult", 0) not in _ITS_OWN
    if alien or isinstance(error, _ELSEWHERE):
        raise error


def _read(db: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[Any] | None:
    """Return the rows of a query, None where damage is in the way."""
    try:
        return db.execute(sql, values).fetchall()
    except _DAMAGE as error:
        _refuse_others(error)
        return None


def _columns(db: apsw.Connection, table: str) -> list[str]:
    return [name for (name,) in _read(db, "SELECT name FROM pragma_table_info(?)", (table,)) or ()]


def _rows(db: apsw.Connection, table: str, names: Sequence[str], where: str = "1") -> list[Row]:
    """Return the rows before the first that cannot be read, and those after the last."""
    found: dict[Row, None] = {}
    for order in ("", " DESC"):
        with _passing_over():
            for row in db.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where} ORDER BY 1{order}"):
                found[row] = None
            break
    return list(found)


def _by_id(db: apsw.Connection, table: str, names: Sequence[str]) -> Iterator[Row]:
    """Yield the rows of a table that can be read: of ids that cannot be read together each half by itself."""
    ends = [(first, first + _AT_ONCE - 1) for first in range(1, _last(db, table) + 1, _AT_ONCE)][::-1]
    while ends:
        first, last = ends.pop()
        sql = f"SELECT {', '.join(names)} FROM {table} WHERE id BETWEEN ? AND ?"
        found, middle = _read(db, sql, (first, last)), (first + last) // 2
        if found is None and first < last:
            ends += [(middle + 1, last), (first, middle)]
        yield from found or ()


def _last(db: apsw.Connection, table: str) -> int:
    """Return the highest row id that a table has or ever gave; where nothing tells it, what a file has room for."""
    asked = (f"SELECT max(id) FROM {table}", f"SELECT seq FROM sqlite_sequence WHERE name = '{table}'")
    told = [row[0] or 0 for sql in asked for row in _read(db, sql) or ()]
    return min(max(told), _LAST) if told else os.path.getsize(db.filename) // _SHORTEST


def _insert(db: apsw.Connection, table: str, names: Sequence[str], rows: Iterator[Row] | Sequence[Row]) -> None:
    """Store rows, but for those with values that nothing can be."""
    sql = f"INSERT OR IGNORE INTO {table}({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    for row in rows:
        with _passing_over():
            db.execute(sql, row)


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


def _locked(path: str, source: apsw.Connection) -> tuple[apsw.Connection, apsw.Backup]:
    """Take the write lock of the file at `path` by beginning to copy `source`; without a header it counts as empty."""
    for reset in (False, True):
        live = _live(path)
        if reset:
            live.config(apsw.SQLITE_DBCONFIG_RESET_DATABASE, 1)
        backup = live.backup("main", source, "main")
        try:
            backup.step(0)
            break
        except BaseException as error:
            backup.close(force=True)
            live.close()
            if reset or not isinstance(error, _NO_HEADER):
                raise
    return live, backup


def _live(path: str) -> apsw.Connection:
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.set_busy_timeout(WAIT_MS)
    db.wal_autocheckpoint(0)
    with suppress(apsw.Error):
        trust_pages(db)
    return db


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


def _there(path: str) -> bool:
    """Whether there is a database, or a log that one has left."""
    return any(os.path.exists(path + end) for end in ("", "-wal"))


def _troubles(path: str, steps: Steps) -> str:
    """Say what is wrong, once SQLite has undone what an exchange that was killed left half written."""
    if os.path.exists(path + "-journal"):
        with TranslatedErrors(path), closing(_live(path)) as live, suppress(*_NO_HEADER):
            live.execute("SELECT 1 FROM sqlite_master LIMIT 1").get  # noqa: B018 - the first read does it
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
