"""Other files of the data folder that still hold what was purged: backups, copies of upgrades, what was moved aside."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing

import apsw

from memman.config import stores
from memman.config.places import open_file, queue_path, store_path
from memman.model.errors import MemmanError
from memman.recovery.backup import backups_path, listed
from memman.sqlite import COMPANIONS, TranslatedErrors, open_reader

# How a folder's name begins that a repair or a restore works in.
REPAIRING = ".repair-"
# Files that hold nothing by themselves.
_DULL = ("-wal", "-shm", "manifest.json")
# Table -> how it names what it holds.
_TABLES = {
    "memory": "uid IN {ids} OR note IN {ids}",
    "rule": "uid IN {ids}",
    "record": "memory IN {ids} AND kind NOT IN ('noted', 'purged') AND body <> ''",
    "note": "uid IN {ids} AND text <> ''",
    "journal": "note IN {ids}",
}


def holding(data: str, ids: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the backups, and the paths of other files, that hold a memory or note of `ids`, or cannot be read."""
    backups = [
        name for name in listed(data) if any(_holds(path, ids) for path in _files(f"{backups_path(data)}/{name}"))
    ]
    return backups, [path for path in _others(data) if _holds(path, ids)]


def copied(data: str) -> Iterator[str]:
    """List every file that holds a copy: those of the backups, and the others."""
    for name in listed(data):
        yield from _files(f"{backups_path(data)}/{name}")
    yield from _others(data)


def _others(data: str) -> Iterator[str]:
    """List what upgrades copied, what was moved aside, what repairs left, and what lies among backups and is none."""
    in_use = {queue_path(data), *(store_path(data, name) for name in stores.names(data))}
    skipped = {os.path.realpath(path) + end for path in in_use for end in COMPANIONS}
    backups, ids = backups_path(data), listed(data)
    queues = [f"{data}/{name}" for name in _names(data) if name.startswith("queue.db")]
    none = [f"{backups}/{name}" for name in _names(backups) if name not in ids]
    places = (*queues, data + "/data", data + "/removed", *none, *leftovers(data))
    yield from (path for path in _files(*places, but=data) if os.path.realpath(path) not in skipped)


def leftovers(folder: str) -> list[str]:
    """List the folders beside a database in which a repair or a restore is at work, or was when it was killed."""
    return [f"{folder}/{name}" for name in _names(folder) if name.startswith(REPAIRING)]


def sweep(data: str) -> None:
    """Remove what repairs and restores that were killed have left. The caller holds the drain lock."""
    for folder in (data, *(f"{data}/data/{name}" for name in _names(data + "/data"))):
        for place in leftovers(folder):
            shutil.rmtree(place, ignore_errors=True)


def _files(*places: str, but: str = "/") -> Iterator[str]:
    """List the files of folders, behind links too, each folder once and not that of `but`; of a file, itself."""
    seen = {os.path.realpath(but)}
    for place in places:
        if os.path.isfile(place):
            yield place
        for folder, below, names in os.walk(place, followlinks=True):
            if (real := os.path.realpath(folder)) in seen:
                below.clear()
                continue
            seen.add(real)
            yield from (f"{folder}/{name}" for name in sorted(names) if not name.endswith(_DULL))


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _holds(path: str, ids: Sequence[str]) -> bool:
    """Whether a file holds one of `ids`: a database in its tables, any other in its text."""
    try:
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            return any(_in_table(db, table, where, ids) for table, where in _TABLES.items())
    except MemmanError:
        return _says(path, ids)


def _in_table(db: apsw.Connection, table: str, where: str, ids: Sequence[str]) -> bool:
    if not db.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).get:
        return False
    listed_ids = "(SELECT value FROM json_each(?1))"
    values = ("[" + ",".join(f'"{one}"' for one in ids) + "]",)
    return bool(db.execute(f"SELECT 1 FROM {table} WHERE {where.format(ids=listed_ids)} LIMIT 1", values).get)


def _says(path: str, ids: Sequence[str]) -> bool:
    try:
        with open(path, "rb", opener=open_file) as source:
            content = source.read()
    except OSError:
        return True
    return any(one.encode() in content for one in ids)
