"""A turn's note on its way: in a file at once, so that a hook that is ended before it is queued has not lost it."""

import os

from memman.config.filesystem import ensure_safe_folder
from memman.config.places import arrivals_path, make_folder, open_file
from memman.model.payload import quoted


def arrive(data: str, row: "dict[str, str | int | None]") -> str:
    """Write a row without secrets to a file of its own, waiting for no disk; return its path, '' for none."""
    ensure_safe_folder(data)
    path = f"{arrivals_path(data)}/{row['uid']}"
    fields = (f"{quoted(name)}:{_written(value)}" for name, value in row.items())
    left = f"{{{','.join(fields)}}}".encode()
    try:
        make_folder(arrivals_path(data))
        file = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        while left:
            left = left[os.write(file, left) :]
        os.close(file)
    except OSError:
        return ""
    return path


def _written(value: "str | int | None") -> str:
    if isinstance(value, str):
        return quoted(value)
    return "null" if value is None else str(value)


def leave(path: str) -> None:
    """Remove the file of a row that is queued, unless a drain has taken it up already."""
    try:
        os.unlink(path)
    except OSError:
        return
