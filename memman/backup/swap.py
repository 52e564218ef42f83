"""Putting a store in its place; what was there lies aside then. Whatever cuts it short, the next one settles it.

    removed/.restoring-NAME       being made ready: worth nothing yet
    removed/.placing-NAME-TIME    ready; as soon as it has exchanged its place for this one, what was there
    removed/NAME-TIME             what was there

What is ready has a file in it that says so, and which goes once it is in its place.
"""

import ctypes
import os
import shutil
import sys
from contextlib import suppress

from memman.config.places import make_folder, read_file, settle, write_file
from memman.config.stores import names
from memman.sqlite import Guard

_DRAFT, _READY, _MARK = ".restoring-", ".placing-", "restoring"
# Linux, renameat2(2): paths are taken from the working folder; both names stay, each with the other's content.
_HERE, _EXCHANGE = -100, 2
# macOS, renamex_np(2).
_SWAP = 2


def drafted(data: str, name: str) -> str:
    """Return where a store is made ready."""
    return f"{data}/removed/{_DRAFT}{name}"


def put(data: str, name: str, aside: str) -> None:
    """Put a store that was made ready in its place, and what is there at `aside`, below `removed`, named NAME-TIME.

    Raises CannotWrite; then one of both is there, and the other not lost.
    """
    draft, place, ready = drafted(data, name), f"{data}/data/{name}", _ready(aside)
    with Guard(place):
        make_folder(os.path.dirname(place))
        write_file(f"{draft}/{_MARK}", os.path.basename(ready))
        os.rename(draft, ready)
        try:
            if not os.path.lexists(place):
                os.rename(ready, place)
            elif not _exchanged(os.fsencode(ready), os.fsencode(place)):
                _in_turn(ready, place, aside)
        finally:
            _settle(data, aside)
    for folder in map(os.path.dirname, (place, aside)):
        settle(folder)


def unsettled(data: str) -> list[str]:
    """List what a restore has below `removed` while it is at work, or had when it was killed."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return sorted(name for name in os.listdir(data + "/removed") if name.startswith((_DRAFT, _READY)))
    return []


def recover(data: str) -> None:
    """Bring what a restore that was killed has begun to its end, or undo it. Raises CannotWrite.

    The caller holds the drain lock.
    """
    with Guard(data + "/removed"):
        for name in unsettled(data):
            if name.startswith(_READY):
                _settle(data, f"{data}/removed/{name.removeprefix(_READY)}")
            else:
                shutil.rmtree(f"{data}/removed/{name}", ignore_errors=True)
        for name in names(data):
            with suppress(FileNotFoundError):
                os.remove(f"{data}/data/{name}/{_MARK}")


def _in_turn(ready: str, place: str, aside: str) -> None:
    """Exchange two folders where the system has no call for it: there is no store for a moment."""
    os.rename(place, aside)
    try:
        os.rename(ready, place)
    except OSError:
        os.rename(aside, place)
        raise


def _settle(data: str, aside: str) -> None:
    """Leave a store in its place, what was there aside, and nothing between."""
    ready, place = _ready(aside), f"{data}/data/{os.path.basename(aside).rpartition('-')[0]}"
    if read_file(f"{ready}/{_MARK}") != os.path.basename(ready):
        with suppress(FileNotFoundError):
            os.rename(ready, aside)
    elif os.path.lexists(aside) and not os.path.lexists(place):
        os.rename(ready, place)
    else:
        shutil.rmtree(ready, ignore_errors=True)
    with suppress(FileNotFoundError, NotADirectoryError):
        os.remove(f"{place}/{_MARK}")


def _ready(aside: str) -> str:
    folder, name = os.path.split(aside)
    return f"{folder}/{_READY}{name}"


def _exchanged(one: bytes, other: bytes) -> bool:
    """Let the kernel do it; False where the C library, the kernel or the file system cannot."""
    library = ctypes.CDLL(None)
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return bool(library.renamex_np(one, other, _SWAP) == 0)
    return hasattr(library, "renameat2") and bool(library.renameat2(_HERE, one, _HERE, other, _EXCHANGE) == 0)
