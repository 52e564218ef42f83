"""Whether what runs memman can be changed by others: whoever changes the interpreter or its modules runs as you.

Looks at: the interpreter, its modules, and the program the launcher starts
Finds: fails if every user can change one of them or its folder; warns if another user owns it
"""

import os
import stat
import sys
from collections.abc import Iterable, Iterator

from memman.config.launcher import program, start, target
from memman.config.places import read_file
from memman.doctor.finding import Context, Finding, fail, shell, sound, warn

# What files of a user without a name here are said to belong to, as the host's are in a container.
_NOBODY = 65_534
_ANEW = "or install memman with the system's interpreter or your own"


def check(context: Context) -> Iterator[Finding]:
    """Look at every file whose code memman runs, and at the folders that lead to it."""
    says = f"{sys.executable} ({sys.version.split()[0]}): nobody else can change it or what it loads"
    yield from sound(_faults(_run(context.data)), says)


def doubts(paths: Iterable[str], uid: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return which of the files, and folders on the way to them, anybody may change, and which another user may.

    The first come with their modes, the second with their owners.
    """
    found = {place: os.lstat(place) for place in _ways(paths) if os.path.lexists(place)}
    changed = {
        place: stat.S_IMODE(info.st_mode)
        for place, info in found.items()
        if info.st_mode & stat.S_IWOTH and not info.st_mode & stat.S_ISVTX and not stat.S_ISLNK(info.st_mode)
    }
    theirs = {place: info.st_uid for place, info in found.items() if info.st_uid not in {0, uid, _NOBODY}}
    return changed, theirs


def _faults(paths: Iterable[str]) -> Iterator[Finding]:
    changed, theirs = doubts(paths, os.geteuid())
    for path, mode in changed.items():
        sudo = () if os.lstat(path).st_uid == os.geteuid() else ("sudo",)
        mend = shell(*sudo, "chmod", "o-w", path)
        yield fail(f"{path} can be changed by every user, and memman runs code from it (mode {mode:04o})", mend)
    if theirs:
        path, owner = next(iter(theirs.items()))
        more = f" and {len(theirs) - 1} more" if len(theirs) > 1 else ""
        says = f"{path}{more} belongs to user {owner}, who can change what memman runs"
        yield warn(
            says, hint="fine if you trust that user; otherwise install memman with the system's interpreter or your own"
        )


def _run(data: str) -> list[str]:
    """Return the files whose code runs: the interpreter, all that it has loaded, and what the launcher starts."""
    modules = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
    try:
        started, quick = target(data), start(data).python
    except ValueError:  # the check of the launcher says so
        started = quick = ""
    programs = [sys.executable, program(), started, quick, _interpreter(started)]
    return list(dict.fromkeys(os.path.abspath(path) for path in (*programs, *modules) if path))


def _interpreter(script: str) -> str:
    """Return the interpreter that a script names, '' for none."""
    first = read_file(script).partition("\n")[0] if script else ""
    return first[2:].split()[0] if first[:2] == "#!" and first[2:].strip() else ""


def _ways(paths: Iterable[str]) -> Iterable[str]:
    """Return files and the folders that lead to them, as they are named and as links lead there, each once."""
    found: dict[str, None] = {}
    for path in paths:
        for end in (path, os.path.realpath(path)):
            place = end
            while place not in found and place != os.path.dirname(place):
                found[place] = None
                place = os.path.dirname(place)
    return found
