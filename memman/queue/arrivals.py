"""Notes as hooks leave them before anything that waits: a file each, which the next drain queues if they did not."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from memman.config.places import arrivals_path, open_file
from memman.config.stores import valid_name
from memman.model.objects import parsed
from memman.queue.append import COLUMNS, insert
from memman.queue.late import record

_NUMBERS = frozenset(("category", "importance", "queued_at"))
_UID = 32
# Seconds that a file may be incomplete, while its hook writes it.
_WRITTEN = 60


def waiting(data: str) -> bool:
    """Whether there is a note that a hook did not get into the queue, or has in hand."""
    return any(_files(data))


def take_up(data: str) -> int:
    """Put them into the queue, each once, and return how many there were."""
    taken = 0
    for path in sorted(_files(data)):
        note = _read(path)
        if note is not None:
            insert(data, note)
            taken += 1
        elif not _old(path):
            continue
        else:
            record(data, "stop", "turn")
        with suppress(OSError):
            os.unlink(path)
    return taken


def _files(data: str) -> Iterator[str]:
    with suppress(OSError), os.scandir(arrivals_path(data)) as entries:
        yield from [entry.path for entry in entries]


def _read(path: str) -> dict[str, Any] | None:
    """Return a note, None where the file does not hold a whole one."""
    try:
        with open(path, "rb", opener=open_file) as source:
            note = parsed(source.read())
    except OSError:
        return None
    return note if note and _sound(note) else None


def _sound(note: dict[str, Any]) -> bool:
    """Whether it has every column, each text a text, and names a note and a store that may be."""
    texts = note.keys() - _NUMBERS
    if note.keys() | {"ends_at"} != {*COLUMNS} or not all(isinstance(note[name], str) for name in texts):
        return False
    named = len(note["uid"]) == _UID and note["uid"].isalnum() and valid_name(note["store"])
    return named and isinstance(note["queued_at"], int)


def _old(path: str) -> bool:
    try:
        return time.time() - os.stat(path, follow_symlinks=False).st_mtime > _WRITTEN
    except OSError:
        return False
