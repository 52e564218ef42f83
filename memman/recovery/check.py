"""Whether a database is sound: its structure, and the checksums of its pages and records."""

import os
from collections.abc import Callable, Mapping
from contextlib import closing

import apsw

from memman.config.places import check_regular
from memman.model.errors import DamagedFile, StoreError
from memman.model.plural import counted
from memman.sqlite import TranslatedErrors, open_reader, refuse_others, schema_version, strange_header
from memman.store.sqlite import record_log
from memman.store.sqlite.schema import STEPS, VERSION

Steps = Mapping[int, str] | Mapping[int, Callable[[apsw.Connection], None]]
# The newest records, whose checksums are looked at: half a second's work. The pages of all are.
MOST = 100_000
# What there is in a database but for what SQLite adds and takes away by itself; its releases quote names differently,
# and a column that was added later stands on no line of its own.
_TABLES = """
SELECT name, replace(replace(replace(sql, '"', ''), ' ', ''), char(10), '') FROM sqlite_master
WHERE name NOT GLOB 'sqlite_stat*'
"""
# In a store, whose pages have checksums, names are enough: one that was taken over words its tables otherwise.
_COLUMNS = (
    "SELECT t.name, c.name FROM sqlite_master t LEFT JOIN pragma_table_info(t.name) c WHERE t.name NOT GLOB 'sqlite_*'"
)


def troubles(path: str, steps: Steps) -> str:
    """Say what is wrong with the database at `path`, of the schema that `steps` make, '' where nothing is.

    Raises NewerSchema, and CannotWrite where it is no file.
    """
    check_regular(path)
    if not _held(path):
        return "it is empty, although its write-ahead log is not" if _held(path + "-wal") else "it is empty: 0 bytes"
    if says := strange_header(path):
        return says
    try:
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            return _complaints(db, steps) or _misfit(db, steps, path) or _changed(db, steps)
    except (DamagedFile, StoreError) as error:
        cause = error.__cause__
        if not isinstance(error, DamagedFile) and not isinstance(cause, apsw.SQLError):
            raise  # as SQLError SQLite says of some bytes of the header that it does not know them
        if getattr(cause, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            return "its pages were changed by the disk or by another program"
        return f"it is not a valid database ({cause})" if cause else "it is not a valid database"


def _complaints(db: apsw.Connection, steps: Steps) -> str:
    # Nothing but a look at each entry finds a changed byte in an index of the queue, whose pages have no checksums.
    check = "quick_check" if steps is STEPS else "integrity_check"
    said = [str(line) for (line,) in db.execute(f"PRAGMA {check}(3)")]
    return "" if said == ["ok"] else " ".join("; ".join(said).split())[:200]


def _misfit(db: apsw.Connection, steps: Steps, path: str) -> str:
    """Say where the tables are not those of the schema that a database says it has; one more is no harm."""
    version = db.execute("PRAGMA user_version").get
    refuse_others(db, path)
    looked_at = _COLUMNS if steps is STEPS else _TABLES
    with closing(apsw.Connection(":memory:")) as model:
        for step in steps.values():
            step(model) if callable(step) else model.execute(step)
        expected = set(model.execute(looked_at))
    tables, newest = set(db.execute(looked_at)), max(steps)
    if version <= 0:
        return "it has tables, but not the number of their schema" if tables else ""
    # A newer schema has more tables than ours; one that somebody added to a store of ours is no harm.
    if version != newest and (tables == expected or (tables > expected and version < newest)):
        return f"it has the tables of schema {newest}, but says {version}"
    if schema_version(db, newest, path) < newest:
        return ""
    other = sorted({name for name, _ in expected - tables})
    return f"it is not as schema {version} has it: {', '.join(other)}" if other else ""


def _changed(db: apsw.Connection, steps: Steps) -> str:
    """Count the records that do not say what was once written, and name the first; find notes that are no text."""
    if steps is not STEPS:
        for _ in db.execute("SELECT * FROM note"):
            pass
        return ""
    if db.execute("PRAGMA user_version").get != VERSION:  # an earlier schema has no records
        return ""
    bad = record_log.damaged(db, MOST)
    return f"checksum mismatch in {counted(len(bad), 'record')}, e.g. number {bad[0][1]}" if bad else ""


def _held(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0
