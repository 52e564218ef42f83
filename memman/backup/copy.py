"""Copying databases that are in use, and looking whether a copy is sound."""

import os
from collections.abc import Iterable, Iterator
from contextlib import closing
from hashlib import file_digest

import apsw

from memman.backup.manifest import CURRENT, Part, part_file
from memman.config.places import open_file
from memman.model.errors import DamagedFile, MemmanError
from memman.sqlite import Guard, open_reader, open_writer, transcribe

# What is counted, where a database has it.
_COUNTED = ("note", "journal", "memory", "receipt", "link", "log")
_COMPLAINTS = 3


def copied(source: str, folder: str, store: str = "") -> Part:
    """Copy a database as it is at one moment; nobody who writes to it waits. Raises DamagedFile and CannotWrite."""
    file = part_file(store)
    target = f"{folder}/{file}"
    with Guard(source), closing(open_reader(source)) as db:
        db.execute("BEGIN")
        rows, schema = counted(db), int(db.execute("PRAGMA user_version").get)
        fill(target, db)
    return Part(file, store, schema, os.path.getsize(target), digest(target), rows)


def fill(target: str, db: apsw.Connection, mode: str = "DELETE") -> None:
    """Write what `db` holds into a new file; in any other `mode` than WAL nothing lies beside it."""
    with Guard(target), closing(open_writer(target)) as copy:
        transcribe(copy, db)
        copy.execute(f"PRAGMA journal_mode={mode}")
    for end in ("-wal", "-shm") if mode != "WAL" else ():
        if os.path.exists(target + end):
            os.remove(target + end)


def counted(db: apsw.Connection) -> dict[str, int]:
    """Count the rows of the tables that matter."""
    there = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    rows = {name: int(db.execute(f"SELECT count(*) FROM {name}").get) for name in _COUNTED if name in there}
    if "memory" in there:
        rows[CURRENT] = int(db.execute("SELECT count(*) FROM memory WHERE status = 'current'").get)
    return rows


def faults(folder: str, parts: Iterable[Part], *, cheap: bool = False) -> Iterator[str]:
    """Say what is wrong with a backup's databases; with `cheap` only whether they are there and as long as they were.

    Otherwise every byte is compared with what was written, and SQLite checks each.
    """
    for part in parts:
        fault = _measured(f"{folder}/{part.file}", part) or ("" if cheap else _checked(f"{folder}/{part.file}", part))
        if fault:
            yield f"{part.file} {fault}"


def check(folder: str, parts: Iterable[Part]) -> None:
    """Raise DamagedFile where a part is not sound."""
    for fault in faults(folder, parts):
        raise DamagedFile(f"{folder}/{fault}")


def digest(path: str) -> str:
    """Return a file's SHA-256."""
    with Guard(path), open(path, "rb", opener=open_file) as source:
        return file_digest(source, "sha256").hexdigest()


def _measured(path: str, part: Part) -> str:
    try:
        size = os.path.getsize(path)
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if size == part.bytes else f"has {size} bytes and had {part.bytes}"


def _checked(path: str, part: Part) -> str:
    try:
        if digest(path) != part.sha256:
            return "was changed or is damaged: its SHA-256 differs"
        with Guard(path), closing(open_reader(path)) as db:
            said = [str(line) for (line,) in db.execute(f"PRAGMA integrity_check({_COMPLAINTS})")]
            if said != ["ok"]:
                return "is damaged: " + " ".join("; ".join(said).split())[:200]
            return (
                ""
                if part.rows.items() <= counted(db).items()
                else "has a different number of rows than when it was written"
            )
    except MemmanError as error:
        return f"cannot be read: {error}"
