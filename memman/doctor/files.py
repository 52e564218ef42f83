"""Whether everything in the data folder is of the kind it must be: a pipe in a file's place would be waited for.

Looks at: every place in it that memman uses
Finds: a folder, pipe, socket or device in a file's place, a link that leads nowhere, a file its owner may not read
"""

import os
import stat
from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, fail, shell, skipped, sound

# What has to be made anew where it is taken away; all else is made when it is needed.
_ANEW = {"schedule": "memman scheduler install", "bin": "memman install", "bin/memman": "memman install"}


def check(context: Context) -> Iterator[Finding]:
    """Look at the type of each known place, and for what does not belong in the folder."""
    if not os.path.isdir(context.data):
        yield skipped("no data folder yet")
        return
    faults = (
        fail(f"{path} {fault}", _mend(context.data, path, fault)) for path, fault in sorted(context.amiss.items())
    )
    yield from sound(faults, "everything is of the expected type")


def _mend(data: str, path: str, fault: str) -> str:
    if "may not" in fault:
        return shell("chmod", "u+rwX", path)
    mode = os.lstat(path).st_mode
    kept = stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)
    away = shell("mv", path, aside(path)) if kept else shell("rm", path)
    again = _ANEW.get(path.removeprefix(data + "/"))
    return f"{away} && {again}" if again else away


def aside(path: str) -> str:
    """Return a name beside `path` that nothing has yet."""
    number, free = 1, path + ".aside"
    while os.path.lexists(free):
        number, free = number + 1, f"{path}.aside-{number + 1}"
    return free
