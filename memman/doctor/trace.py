"""Leaving no trace: even to look into a database makes SQLite lay files beside it."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import apsw

from memman.sqlite import WAIT_MS, checks_pages


@contextmanager
def untouched(paths: Iterable[str]) -> Iterator[None]:
    """Take away, in the end, the logs that were not there beside the databases at `paths`."""
    bare = [path for path in paths if not os.path.exists(path + "-wal")]
    try:
        yield
    finally:
        for path in bare:
            if os.path.exists(path + "-wal"):
                _tidy(path)


def _tidy(path: str) -> None:
    """Let SQLite take its files away, which it does where nobody else has the database open."""
    kept = checks_pages()
    with suppress(apsw.Error):
        db = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            # Only who keeps checksums may move into the file what somebody has logged by now.
            db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, int(not kept))
            db.set_busy_timeout(WAIT_MS)
            db.execute("PRAGMA schema_version").get  # noqa: B018 - a connection that read nothing takes nothing away
        finally:
            db.close()
