"""What sessions and the worker's log hold of what was purged. The caller holds the drain lock."""

import os
from collections.abc import Collection
from contextlib import suppress
from fcntl import LOCK_EX, flock

from memman.config.places import open_file, sessions_path, write_file
from memman.drain.worklog import FILES, log_path


def erase(data: str, uids: Collection[str]) -> None:
    """Take memories out of what hooks keep of sessions, and every prompt: it may have asked for this very purge.

    Of the worker's log every line of level debug goes: they quote what stages were given.
    """
    with suppress(FileNotFoundError):
        for name in os.listdir(sessions_path(data)):
            with suppress(OSError):
                _clear_session(f"{sessions_path(data)}/{name}", uids)
    for number in range(FILES):
        _clear_log(log_path(data, number))


def _clear_session(path: str, uids: Collection[str]) -> None:
    file = open_file(path, os.O_RDWR)
    try:
        flock(file, LOCK_EX)
        said = os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")
        says = " ".join(uid for uid in said.partition("\n")[0].split() if uid not in uids) + "\n"
        if says != said:
            os.ftruncate(file, 0)
            os.pwrite(file, says.encode(), 0)
    finally:
        os.close(file)


def _clear_log(path: str) -> None:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_file) as source:
            lines = list(source)
    except OSError:
        return
    kept = [line for line in lines if '"level": "debug"' not in line]
    if kept != lines:
        write_file(path, "".join(kept))
