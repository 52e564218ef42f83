"""A database given other content where it lies, sound or not, in one transaction of SQLite's own.

No file is put in the place of another: whoever has it open stays with it, its log is never parted from it, and what
cuts the exchange short leaves all of the old or all of the new.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import BinaryIO

import apsw

from memman.config.places import fsync_folder, make_file, open_file
from memman.sqlite import WAIT_MS, TranslatedErrors, checkpoint, trust_pages

# How SQLite says of a file's first page that it cannot be what it was.
_NO_HEADER = (apsw.NotADBError, apsw.CorruptError, apsw.ReadOnlyError)


@contextmanager
def exchange(path: str, place: str) -> Iterator[Callable[[], str]]:
    """Hold off all who write to the database at `path`, for `new.db` in the folder `place`; copy it to `read.db` there.

    What is yielded puts the new content in force and returns where the old file is kept; until then more may be
    written to `new.db`, which must have a table: the lock is that of a copying which has not begun yet. Raises Busy.
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
