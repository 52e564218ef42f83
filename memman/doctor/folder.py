"""Whether the data folder can be used, lies where SQLite's write-ahead log is safe, and is used by one machine.

Looks at: where the data folder is, and who uses it
Finds: read-only, or cannot be created; on nfs, cifs, 9p, virtiofs, FUSE and their like, and where another machine has
used it since this one was started: two kernels would damage the files
"""

import os
from collections.abc import Iterator

from memman.config import filesystem
from memman.config.places import queue_path, store_path
from memman.doctor.finding import Context, Finding, fail, ok, shell, warn, writable
from memman.integrations.files import read_only

_MOVE = "move the folder to a local disk and set MEMMAN_DATA_DIR"
_ELSEWHERE = "or set MEMMAN_DATA_DIR to a folder that you can write to"
_ALONE = "only if the other machine no longer uses it"


def check(context: Context) -> Iterator[Finding]:
    """Look at what the data folder is, on which file system, and who else uses it."""
    data = context.data
    if not os.path.exists(data):
        yield from _unsafe(data, [data]) or [_unmade(data)]
    elif not os.path.isdir(data):
        yield fail(f"{data} is not a folder", hint="move it away, or set MEMMAN_DATA_DIR")
    elif not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        yield fail(f"{data} is read-only: nothing can be remembered", writable(data), _ELSEWHERE)
    else:
        places = [queue_path(data), *(store_path(data, name) for name in context.stores)]
        kind = filesystem.file_system(data)
        yield from _unsafe(data, places) or [ok(data + (f" on {kind}" if kind else ""))]


def _unmade(data: str) -> Finding:
    """Say of a folder that is not there whether it can be made."""
    for place in read_only(data):
        says = f"{place} is read-only, so {data} cannot be made: nothing can be remembered"
        return fail(says, writable(place), _ELSEWHERE)
    return ok(f"{data} does not exist yet: the first note creates it")


def _unsafe(data: str, places: list[str]) -> list[Finding]:
    """Find what writing is refused for; where it is allowed all the same, that is a warning."""
    grave = warn if filesystem.allowed(data) else fail
    kinds = {path: filesystem.file_system(path) for path in places}
    found = [
        grave(f"{path} lies on {kind}, where SQLite databases can be damaged", hint=_MOVE)
        for path, kind in kinds.items()
        if filesystem.shared(kind)
    ]
    if other := filesystem.second(data, filesystem.this_kernel()):
        says = f"another machine ({other}) has used {data} since this one was booted"
        found.append(grave(says, shell("rm", filesystem.owner_path(data)), _ALONE))
    return found
