"""Whether a write-ahead log has grown that drains should have truncated.

Looks at: write-ahead logs
Finds: warns above 8 MiB
"""

import os
from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, shell, sound, warn

# Replaying the log is linear: 1 ms at 4 MB, 4 ms at 17 MB, at each start of a program.
LONGEST = 8 * 2**20


def check(context: Context) -> Iterator[Finding]:
    """Look for write-ahead logs that no drain has truncated."""
    logs = ((what, path + "-wal") for what, path in context.databases().items())
    sizes = {what: os.path.getsize(log) for what, log in logs if os.path.exists(log)}
    long = ((what, size) for what, size in sizes.items() if size > LONGEST)
    troubles = (
        warn(f"{what} has a write-ahead log of {size / 2**20:.0f} MiB", _truncating(what)) for what, size in long
    )
    yield from sound(troubles, f"{max(sizes.values(), default=0) / 1024:.0f} KiB at most")


def _truncating(what: str) -> str:
    """Return a command that opens the file to write and truncates its log on closing."""
    if what == "queue":
        return shell("memman", "scheduler", "drain")
    return shell("memman", "--store", what.split("'")[1], "embed", "reembed")
