"""Whether the data folder's files are private and one's own."""

import os
import stat
from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, counted, fail, shell, skipped, sound

_OTHERS = 0o077


def check(context: Context) -> Iterator[Finding]:
    """Look at every folder and file for who else may read it, and whose it is."""
    if not os.path.isdir(context.data):
        yield skipped("no data folder yet")
        return
    found = dict(_entries(context.data))
    yield from sound(_problems(context.data, found), f"{counted(len(found), 'file')} and folders, all private")


def _problems(data: str, found: dict[str, os.stat_result]) -> Iterator[Finding]:
    open_ = [path for path, info in found.items() if stat.S_IMODE(info.st_mode) & _OTHERS]
    if open_:
        mode = stat.S_IMODE(found[open_[0]].st_mode)
        more = f" and {len(open_) - 1} more" if len(open_) > 1 else ""
        yield fail(f"{open_[0]}{more} can be read by others (mode {mode:04o})", shell("chmod", "-R", "go-rwx", data))
    foreign = [path for path, info in found.items() if info.st_uid != os.geteuid()]
    if foreign:
        more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        owner = shell("sudo", "chown", "-R", str(os.geteuid()), data)
        yield fail(f"{foreign[0]}{more} belongs to another user", owner)


def _entries(data: str) -> Iterator[tuple[str, os.stat_result]]:
    """Return every folder and plain file; a file that goes meanwhile is none, nor is what a link leads to."""
    yield data, os.stat(data)
    for folder, folders, files in os.walk(data):
        for name in (*folders, *files):
            path = f"{folder}/{name}"
            try:
                info = os.lstat(path)
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(info.st_mode) or stat.S_ISREG(info.st_mode):
                yield path, info
