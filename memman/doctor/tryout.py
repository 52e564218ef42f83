"""A data folder to try things on: it remembers one thing, and is removed afterwards."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from memman.config.places import make_file, make_folder, write_file
from memman.config.schedule import NOBODY, Schedule
from memman.queue.append import append

MARK = "plumage-amber"
_CANARY = f"The canary heron service listens on port 8417 ({MARK})."
_NOTE: dict[str, str | int | None] = {
    **dict.fromkeys("entities replaces agent session cwd repository revision host user".split(), ""),
    "store": "default",
    "text": _CANARY,
    "source": "user",
    "category": None,
    "importance": None,
}


@contextmanager
def tryout() -> Iterator[str]:
    """Give a data folder with one note that waits, and in which no write starts a drain."""
    with tempfile.TemporaryDirectory(prefix="memman-doctor-") as place:
        data = place + "/data"
        make_folder(data)
        make_file(data + "/env")
        write_file(data + "/env", "MEMMAN_CAPTURE=turns\n")
        Schedule(NOBODY).save(data)
        append(data, _NOTE)
        yield data
