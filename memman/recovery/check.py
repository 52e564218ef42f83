"""Whether a database is sound: its structure, the checksums of its pages, the digests of its memories and notes."""

import os
from collections.abc import Mapping
from contextlib import closing

import apsw

from memman.model.errors import DamagedFile, StoreError
from memman.model.plural import counted
from memman.queue.damage import damaged
from memman.sqlite import TranslatedErrors, open_reader, refuse_others, schema_version, strange_header
from memman.store.sqlite.schema import STEPS
from memman.store.sqlite.seal import SEALED, register_functions, sound

# The newest memories, whose digests are looked at: half a second's work. The pages of all are.
MOST = 100_000
# What there is in a database but for what SQLite adds and takes away by itself; its releases quote names differently,
# and a column that was added later stands on no line of its own.
_TABLES = """
SELECT name, replace(replace(replace(sql, '"', ''), ' ', ''), char(10), '') FROM sqlite_master
WHERE name NOT GLOB 'sqlite_stat*'
"""


def troubles(path: str, steps: Mapping[int, str]) -> str:
    """Say what is wrong with the database at `path`, of the schema that `steps` make, '' where nothing is.

    Raises NewerSchema.
    """
    if not _held(path):
        return "it is empty, although its write-ahead log is not" if _held(path + "-wal") else "it is empty: 0 bytes"
    if says := strange_header(path):
        return says
    try:
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            changed = _unsealed if steps is STEPS else _changed
            return _complaints(db, steps) or _misfit(db, steps, path) or changed(db)
    except (DamagedFile, StoreError) as error:
        cause = error.__cause__
        if not isinstance(error, DamagedFile) and not isinstance(cause, apsw.SQLError):
            raise  # as SQLError SQLite says of some bytes of the header that it does not know them
        if getattr(cause, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA:
            return "its pages were changed by the disk or by another program"
        return f"it is not a valid database ({cause})" if cause else "it is not a valid database"


def _complaints(db: apsw.Connection, steps: Mapping[int, str]) -> str:
    # Nothing but a look at each entry finds a changed byte in an index of the queue, whose pages have no checksums.
    check = "quick_check" if steps is STEPS else "integrity_check"
    said = [str(line) for (line,) in db.execute(f"PRAGMA {check}(3)")]
    return "" if said == ["ok"] else " ".join("; ".join(said).split())[:200]


def _misfit(db: apsw.Connection, steps: Mapping[int, str], path: str) -> str:
    """Say where the tables are not those of the schema that a database says it has; one more is no harm."""
    version, tables = db.execute("PRAGMA user_version").get, set(db.execute(_TABLES))
    refuse_others(db, path)
    with closing(apsw.Connection(":memory:")) as model:
        register_functions(model)
        for step in steps.values():
            model.execute(step)
        expected = set(model.execute(_TABLES))
    newest = max(steps)
    if version <= 0:
        return "it has tables, but not the number of their schema" if tables else ""
    if version != newest and tables == expected:
        return f"it has the tables of schema {newest}, but says {version}"
    if schema_version(db, newest, path) < newest:
        return ""
    if lost := sorted({name for name, _ in expected} - {name for name, _ in tables}):
        return f"it lacks {', '.join(lost)}"
    other = sorted({name for name, _ in expected - tables})
    return f"not as schema {version} has it: {', '.join(other)}" if other else ""


def _unsealed(db: apsw.Connection) -> str:
    """Count the memories that do not say what was once written, and name the first."""
    sql = f"SELECT uid, {', '.join(SEALED)}, digest FROM memory ORDER BY id DESC LIMIT {MOST}"
    bad = [str(uid) for uid, *row in db.execute(sql) if not sound(row)]
    return f"checksum mismatch in {counted(len(bad), 'memory')}, e.g. {bad[0]}" if bad else ""


def _changed(db: apsw.Connection) -> str:
    """Count the notes that wait and do not say what was queued, and name the first."""
    bad = damaged(db)
    return f"checksum mismatch in {counted(len(bad), 'queued note')}, e.g. {bad[0]}" if bad else ""


def _held(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0
