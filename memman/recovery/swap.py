"""Putting a store in its place; what was there lies aside then. Whatever cuts it short, the next one finishes it.

    removed/.restoring-NAME     being made ready: worth nothing yet
    removed/.ready-NAME-TIME    ready: it takes the place as soon as what is there lies aside
    removed/NAME-TIME           what was there

Between two renamings there is no store for a moment; whoever writes to one is held off by the locks of a restore.
"""

import os
import shutil
import time
from contextlib import suppress

from memman.config.places import fsync_folder, make_folder
from memman.sqlite import TranslatedErrors

_DRAFT, _READY = ".restoring-", ".ready-"


def drafted(data: str, name: str) -> str:
    """Return where a store is made ready."""
    return f"{data}/removed/{_DRAFT}{name}"


def aside_path(data: str, name: str) -> str:
    """Return a free place below `removed` for a store."""
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    number, place = 1, f"{data}/removed/{name}-{stamp}"
    while os.path.exists(place):
        number += 1
        place = f"{data}/removed/{name}-{stamp}.{number}"
    return place


def put(data: str, name: str, aside: str) -> None:
    """Put a store that was made ready in its place, and what is there at `aside`, whole or not. Raises CannotWrite."""
    place, ready = f"{data}/data/{name}", f"{data}/removed/{_READY}{os.path.basename(aside)}"
    with TranslatedErrors(place):
        make_folder(os.path.dirname(place))
        os.rename(drafted(data, name), ready)
        with suppress(FileNotFoundError):
            os.rename(place, aside)
        try:
            os.rename(ready, place)
        except OSError:
            with suppress(FileNotFoundError):
                os.rename(aside, place)
            raise
    for folder in map(os.path.dirname, (place, aside)):
        fsync_folder(folder)


def unsettled(data: str) -> list[str]:
    """List what a restore has below `removed` while it is at work, or had when it was killed."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted(name for name in os.listdir(data + "/removed") if name.startswith((_DRAFT, _READY)))
    return []


def finish(data: str) -> None:
    """Put what a killed restore had ready where no store is, under the drain lock. Raises CannotWrite."""
    with TranslatedErrors(data + "/removed"):
        for name in unsettled(data):
            place = f"{data}/data/{name.removeprefix(_READY).rpartition('-')[0]}"
            if name.startswith(_READY) and not os.path.lexists(place):
                os.rename(f"{data}/removed/{name}", place)
                fsync_folder(os.path.dirname(place))
            else:
                shutil.rmtree(f"{data}/removed/{name}", ignore_errors=True)
