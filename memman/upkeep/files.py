"""Whether the files that memories name hold what they held: looked at by drains, some at a time."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from memman.clock import now_ms
from memman.config.history import blob
from memman.config.repository import repository
from memman.model.errors import Busy, CannotWrite, StoreError
from memman.model.objects import parsed
from memman.sqlite import TranslatedErrors
from memman.store.sqlite import quality
from memman.store.sqlite.store import SqliteStore

# Files looked at in one drain.
AT_ONCE = 200
# Store setting: where the next drain goes on.
_AFTER = "files"


def look(names: Iterable[str], opened: Callable[[str], SqliteStore]) -> None:
    """Look at the next AT_ONCE files of these stores, and keep since when each differs. Damaged stores are left."""
    room = AT_ONCE
    for name in names:
        if room <= 0:
            return
        try:
            room -= _part(opened(name), room)
        except (StoreError, CannotWrite, Busy):
            continue


def _part(store: SqliteStore, room: int) -> int:
    with TranslatedErrors(store.path):
        said = parsed(store.reader.meta(_AFTER)) or {}
        after = (int(said.get("memory", 0)), str(said.get("path", "")))
        rows = quality.files(store.reader, after, room)
    changes = list(_changes(rows, now_ms()))
    there = (rows[-1].memory, rows[-1].path) if len(rows) == room else (0, "")
    if changes or there != after:
        with store.unit() as unit:
            quality.note_changes(unit.db, changes)
            unit.set_meta(_AFTER, json.dumps({"memory": there[0], "path": there[1]}) if there[0] else None)
    return len(rows)


def _changes(rows: Sequence[quality.FileRow], now: int) -> Iterator[tuple[int | None, int, str]]:
    """Yield what has changed about files; of a work tree that is not there nobody knows."""
    roots: dict[str, str] = {}
    for row in rows:
        if row.cwd not in roots:
            place = repository(row.cwd) if os.path.isdir(row.cwd) else None
            roots[row.cwd] = place.root if place else ""
        root = roots[row.cwd]
        same = not root or blob(f"{root}/{row.path}") == row.blob
        if root and same == (row.changed_at is not None):
            yield None if same else now, row.memory, row.path
