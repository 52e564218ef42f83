"""The one way memman opens an SQLite file. Safe on the hot path: imports apsw and little else."""

import _collections_abc
import os
import sys
from _operator import itemgetter

from memman.config.places import check_regular, check_still, fsync_folder, kept_still, make_file, make_folder, open_file

# apsw asks for collections.abc and nothing beside it: to load the package around it takes a millisecond of each start.
_LENT = [name for name in ("collections", "collections.abc") if "collections" not in sys.modules]
sys.modules.update(dict.fromkeys(_LENT, _collections_abc))
import apsw  # noqa: E402 - see above

for _name in _LENT:
    del sys.modules[_name]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import TracebackType
    from typing import Any, ClassVar, Self, TypeVar

    from memman.model.errors import MemmanError

    T = TypeVar("T")

# The first release without the WAL-reset race (sqlite.org, "WAL-reset bug", fixed 2026-03-13).
OLDEST_LIBRARY = (3, 51, 3)
# How long a checkpoint waits for a reader who looks at an older state; the next drain comes to it again.
CHECKPOINT_MS = 1_000
# Longer than any transaction of ours; a drain's longest is a migration.
WAIT_MS = 10_000
# SQLite's own checksum of every page, and how a file says that it has them: bytes it keeps free on each page, and an
# `application_id` ("memm"), so that losing the first is noticed.
CHECKSUM_BYTES = 8
CHECKED = 0x6D656D6D
_EXTENSION = os.path.dirname(apsw.__file__) + "/sqlite_extra_binaries/cksumvfs"
# Whether a file that says it has no schema has tables, all seen at one moment.
# Tables that every store has, and every queue.
_OURS = frozenset(("memory", "receipt", "note", "journal"))
_VERSION_LOST = "SELECT (SELECT user_version FROM pragma_user_version) <= 0 AND EXISTS (SELECT 1 FROM sqlite_master)"
# The bytes of a header that say who may write and read a file: both 2 in ours, 1 where a program took the log from it.
_WAYS = 18
# What SQLite opens: the file, and by these endings what it keeps beside it.
COMPANIONS = ("", "-wal", "-shm", "-journal")
# Executions after which apsw has let go of a statement that was not among them; a note of a drain takes some 90.
_STATEMENTS = 512
_checks: bool | None = None


def _check_library() -> None:
    """Refuse a library that can harm a file."""
    if tuple(map(int, apsw.sqlite_lib_version().split(".")[:3])) < OLDEST_LIBRARY:
        from memman.model.errors import OldLibrary

        raise OldLibrary(
            f"SQLite {apsw.sqlite_lib_version()} can corrupt a WAL database: upgrade apsw to 3.51.3 or newer"
        )


def checks_pages() -> bool:
    """Whether this process checks and writes page checksums, of all files opened from here on."""
    global _checks  # noqa: PLW0603 - as global as what it remembers
    if _checks is None:
        db = apsw.Connection(":memory:")
        try:
            db.enable_load_extension(True)
            db.load_extension(_EXTENSION)
            _checks = True
        except (apsw.Error, AttributeError):
            _checks = False
        db.close()
    return _checks


def _check_pages(db: apsw.Connection) -> None:
    """Raise CorruptError where a file has lost the mark by which its pages are checked."""
    if db.execute("PRAGMA application_id").get == CHECKED and db.reserve_bytes() != CHECKSUM_BYTES:
        kept = db.reserve_bytes()
        raise apsw.CorruptError(f"its first page is damaged: pages keep {kept} bytes free, not {CHECKSUM_BYTES}")


def _patiently(work: "Callable[[], T]") -> "T":
    """Return what `work` gives, waiting where SQLite says busy at once, as for the log's index."""
    try:
        return work()
    except apsw.BusyError:
        from time import monotonic, sleep
    # What SQLite does wait for it has waited for each time: so the time counts, and not the tries.
    last = monotonic() + WAIT_MS / 1000
    while True:
        try:
            return work()
        except apsw.BusyError:
            if monotonic() >= last:
                raise
            sleep(0.001)


def damaged(path: str, says: str) -> "MemmanError":
    """Make the error that says what is wrong with a file, and what mends it."""
    from memman.model.errors import DamagedFile

    what = "--queue" if path.endswith("/queue.db") else f"--store {path.split('/')[-2]}"
    return DamagedFile(f"{path} is damaged: {says}; it was left untouched; `memman repair {what}` repairs it")


def strange_header(path: str) -> str:
    """Say what is wrong with the bytes of a file's header by which SQLite takes it for one of another kind."""
    try:
        with open(path, "rb", opener=open_file) as file:
            ways = file.read(_WAYS + 2)[_WAYS:]
    except OSError:
        return ""
    return "" if ways in {b"", b"\1\1", b"\2\2"} else "its first page is damaged"


def _check_regular(path: str) -> None:
    """Raise CannotWrite where SQLite might wait, CorruptError where it would delete a log beside an emptied file."""
    for end in COMPANIONS:
        check_regular(path + end)
    if _logged(path) and not (there(path) and os.stat(path).st_size):
        raise apsw.CorruptError("it is empty, although its write-ahead log is not")


def translated(error: Exception, path: str) -> "MemmanError":
    """Turn a driver or file-system error about `path` into memman's own."""
    from memman.model.errors import Busy, CannotWrite, DamagedFile, MemmanError, StoreError

    if (
        isinstance(error, apsw.CorruptError | apsw.NotADBError | UnicodeDecodeError)
        or getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA
        or (isinstance(error, apsw.SQLError) and str(error).startswith("no such"))
        or (isinstance(error, apsw.ReadOnlyError) and strange_header(path))
    ):
        says = "is damaged, or was changed by another program; it was left untouched; run `memman doctor`"
        return DamagedFile(f"{path} {says} ({error})")
    table: tuple[tuple[tuple[type[Exception], ...], type[MemmanError], str], ...] = (
        ((apsw.BusyError, apsw.LockedError), Busy, "is in use by another process; try again"),
        ((apsw.FullError,), CannotWrite, "could not be written: the disk is full; free some space and try again"),
        (
            (apsw.ReadOnlyError, apsw.PermissionsError, PermissionError),
            CannotWrite,
            "is not writable; check its permissions",
        ),
        ((apsw.CantOpenError,), CannotWrite, "cannot be opened; check its folder and permissions"),
        ((apsw.IOError, OSError), CannotWrite, "could not be read or written"),
    )
    for kinds, becomes, says in table:
        if isinstance(error, kinds):
            return becomes(f"{path} {says} ({error})")
    return StoreError(f"{path}: {error}")


class Row(tuple["Any", ...]):
    """A row of a query, its values by name, as typing.NamedTuple at a tenth of the cost of making the class."""

    __slots__ = ()
    columns: "ClassVar[tuple[str, ...]]" = ()

    def __init_subclass__(cls) -> None:
        cls.columns = (*cls.columns, *cls.__annotations__)
        for place, name in enumerate(cls.columns):
            setattr(cls, name, property(itemgetter(place)))

    @classmethod
    def of(cls, **values: "Any") -> "Self":
        """Make a row of a value for each column."""
        return cls(map(values.__getitem__, cls.columns))

    @classmethod
    def listed(cls) -> str:
        """Write its columns as SQL."""
        return ", ".join(cls.columns)

    def record(self) -> "dict[str, Any]":
        """Return its values by column."""
        return dict(zip(self.columns, self, strict=True))


# Takes what `id_list` writes. A bound list keeps one prepared statement for lists of every length.
LISTED = "IN (SELECT value FROM json_each(?))"

# Whether the id of a note in a column is named by ?1: it, or its eight digits that are shown, begin so, or it ends so.
NAMED = "({0} LIKE ?1 || '%' OR substr({0}, -8) LIKE ?1 || '%' OR {0} LIKE '%' || ?1)"


def id_list(ids: "Iterable[int]") -> str:
    """Write row ids as a JSON array."""
    return f"[{','.join(map(str, ids))}]"


class TranslatedErrors:
    """Lets no driver error about `path` escape untranslated."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        """Begin to watch."""

    def __exit__(self, kind: object, error: BaseException | None, trace: "TracebackType | None") -> None:
        if isinstance(error, apsw.Error | OSError | UnicodeDecodeError):
            raise translated(error, self.path) from error


class Transaction:
    """BEGIN IMMEDIATE … COMMIT, or ROLLBACK when anything is raised."""

    __slots__ = ("db",)

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db

    def __enter__(self) -> "Self":
        self.db.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: "TracebackType | None") -> None:
        if error is None:
            try:
                self.db.execute("COMMIT")
            except apsw.Error:
                self._abandon()
                raise
        else:
            self._abandon()

    def _abandon(self) -> None:
        # SQLite may already have rolled back by itself, after a full disk for one.
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")


def open_writer(path: str, *, synchronous: str = "FULL", checked: bool = True) -> apsw.Connection:
    """Open `path` for writing, creating it (mode 0600, folder 0700), with page checksums unless not `checked`.

    The log is left for the drain to checkpoint: doing so on close would cost a one-shot writer two more syncs.
    """
    _check_library()
    check_still(path)
    keeps = checked and checks_pages()
    _check_regular(path)
    make_folder(path.rpartition("/")[0])
    make_file(path)
    db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=_STATEMENTS)
    # Before anything can be refused: a checkpoint by a connection that keeps no checksums would leave pages without.
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.set_busy_timeout(WAIT_MS)
    _check_pages(db)
    if not checked and db.reserve_bytes():
        raise damaged(path, "its first page is damaged")
    if not keeps and db.reserve_bytes() == CHECKSUM_BYTES:
        from memman.model.errors import CannotWrite

        raise CannotWrite(
            f"{path} has page checksums that this build of apsw does not support: install apsw from its wheel"
        )
    db.wal_autocheckpoint(0)
    db.execute(f"PRAGMA synchronous={synchronous}")
    # What is taken out of a row goes from its page, too.
    db.execute("PRAGMA secure_delete=ON")
    if sys.platform == "darwin":
        db.execute("PRAGMA fullfsync=ON")
    return db


def there(path: str) -> bool:
    """Whether there is a file at `path`. Unlike os.path.exists, a folder we may not search raises."""
    try:
        os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _logged(path: str) -> bool:
    """Whether there is a log that holds what the file at `path` does not."""
    try:
        return os.stat(path + "-wal").st_size > 0
    except OSError:
        return False


def open_reader(path: str) -> apsw.Connection:
    """Open `path` read-only; on a medium that we cannot write to, also without a log."""
    _check_library()
    checks_pages()
    _check_regular(path)
    try:
        if kept_still():
            return _reader(by_address(path, "readonly_shm=1"))
        return _reader(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY))
    except (apsw.CantOpenError, apsw.ReadOnlyError):
        if _logged(path) or (os.access(path.rpartition("/")[0], os.W_OK) and not kept_still()):
            raise
        return _reader(by_address(path, "immutable=1"))


def by_address(path: str, how: str) -> apsw.Connection:
    """Open `path` read-only, in a way that only its address can ask for."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return apsw.Connection(f"file:{quoted}?{how}", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)


def _reader(db: apsw.Connection) -> apsw.Connection:
    db.set_busy_timeout(WAIT_MS)
    try:
        _check_pages(db)  # the first read is what opens the log
    except BaseException:
        db.close()  # its locks would last for as long as the error is remembered
        raise
    return db


def trust_pages(db: apsw.Connection) -> None:
    """Have a connection read pages whatever their checksums say, from its first read on."""
    db.execute("PRAGMA checksum_verification = OFF").get  # noqa: B018 - it answers


def schema_version(db: apsw.Connection, newest: int, path: str) -> int:
    """Return the file's schema version, 0 for an empty file. Raises NewerSchema, OtherProgram, CorruptError."""
    version = db.execute("PRAGMA user_version").get
    if version > newest:
        from memman.model.errors import NewerSchema

        raise NewerSchema(
            f"{path} has schema {version}, but this memman only knows {newest}: upgrade memman; nothing was changed"
        )
    if version < newest:
        refuse_others(db, path)
    if version <= 0 and db.execute(_VERSION_LOST).get:
        raise apsw.CorruptError("its schema number is missing")
    return int(version)


def refuse_others(db: apsw.Connection, path: str) -> None:
    """Raise OtherProgram for a database that has tables, and none of a store or a queue."""
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if tables and tables.isdisjoint(_OURS):
        from memman.model.errors import OtherProgram

        raise OtherProgram(
            f"{path} is the database of another program, and was left as it is: move its folder away, or set"
            " MEMMAN_DATA_DIR to another one"
        )


def upgrade(
    db: apsw.Connection,
    path: str,
    steps: "Mapping[int, str | Callable[[apsw.Connection], None]]",
    *,
    checked: bool = True,
) -> None:
    """Bring a file to the newest schema by all steps, as SQL or a function, or none; the first makes its tables.

    A file that held anything is first copied beside itself. Raises NewerSchema, and DamagedFile for other tables.
    """
    newest = max(steps)
    version = db.execute("PRAGMA user_version").get
    if version == newest:
        return
    if not schema_version(db, newest, path):
        _begin(db, checked=checked)
    with Transaction(db):  # several may come first at once: who waited here finds the work done
        version = schema_version(db, newest, path)
        if version == newest:
            return
        if version:
            _copy(path, f"{path}.schema-{version}.bak")
        try:
            for number, step in steps.items():
                if number > version:
                    step(db) if callable(step) else db.execute(step)
        except apsw.SQLError as error:
            raise damaged(path, f"its tables are not those of schema {version} ({error})") from error
        db.execute(f"PRAGMA user_version = {newest}")
        if db.reserve_bytes() == CHECKSUM_BYTES:
            db.execute(f"PRAGMA application_id = {CHECKED}")


def _begin(db: apsw.Connection, *, checked: bool) -> None:
    """Give an empty file what it must have before its first table: room for checksums, and a write-ahead log."""
    if checked and checks_pages():
        db.reserve_bytes(reserve=CHECKSUM_BYTES)
    if _patiently(lambda: db.execute("PRAGMA journal_mode=WAL").get) == "delete":  # SQLite lets an error pass here
        raise apsw.IOError("it cannot be given a write-ahead log")


def transcribe(copy: apsw.Connection, db: apsw.Connection) -> None:
    """Write what `db` holds into the empty database `copy`.

    Pages that stand in the log have no checksum yet, and get one only in a file whose first page says that it has
    them: it is written before any other.
    """
    if checks_pages() and db.reserve_bytes() == CHECKSUM_BYTES:
        copy.reserve_bytes(reserve=CHECKSUM_BYTES)
        copy.execute(f"PRAGMA application_id = {CHECKED}")
    with copy.backup("main", db, "main") as backup:
        while not backup.done:
            backup.step(-1)


def _copy(path: str, target: str) -> None:
    """Copy the file at `path` whole, while its one writer holds it; the copy has its name when it is on disk."""
    check_regular(target)
    draft = target + ".new"
    for end in COMPANIONS:  # what a process that was killed amid this has left
        if os.path.exists(draft + end):
            os.remove(draft + end)
    make_file(draft)
    copy, source = apsw.Connection(draft, flags=apsw.SQLITE_OPEN_READWRITE), open_reader(path)
    try:
        transcribe(copy, source)
    finally:
        source.close()
        copy.close()
    os.replace(draft, target)
    fsync_folder(os.path.dirname(target))


def close(db: apsw.Connection, path: str) -> None:
    """Truncate the log, so that whoever opens the file next finds a small one, and close."""
    with TranslatedErrors(path):
        checkpoint(db)
        db.close()


def checkpoint(db: apsw.Connection) -> None:
    """Move the log into the file and truncate it, if no reader is in the way for long; restore WAL mode if lost."""
    db.set_busy_timeout(CHECKPOINT_MS)
    try:
        db.execute("PRAGMA journal_mode=WAL").get  # noqa: B018 - it answers
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    except apsw.BusyError:
        pass
    finally:
        db.set_busy_timeout(WAIT_MS)
