"""Whether the data folder's files are private and one's own.

Looks at: every folder and file below it
Finds: where others may read it, or it belongs to another user
"""

import os
import stat
from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, fail, shell, skipped, sound
from memman.doctor.layout import entries
from memman.model.plural import counted

_OTHERS = 0o077


def check(context: Context) -> Iterator[Finding]:
    """Look at every folder and file for who else may read it, and whose it is."""
    if not os.path.isdir(context.data):
        yield skipped("no data folder yet")
        return
    found = {path: info for path, info in entries(context.data) if _weighed(info.st_mode)}
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


def _weighed(mode: int) -> bool:
    """Whether the modes are of a folder or plain file: what a link leads to is not memman's."""
    return stat.S_ISDIR(mode) or stat.S_ISREG(mode)
