"""Whether stores that are synced by a folder keep up with their other machines.

Looks at: what the last round of each such store found, and its folder
Finds: warns of what stood in the way: a folder that is not there or not writable, a key that is gone or another one, a
bundle that was damaged or is missing
"""

import os
from collections.abc import Iterator

from memman.config import synced
from memman.doctor.finding import Context, Finding, ok, shell, warn


def check(context: Context) -> Iterator[Finding]:
    """Look at the stores that are synced."""
    names = synced.names(context.data)
    if not names:
        yield ok("no store is synced by a folder")
    for name in names:
        folder, last = synced.folder(context.data, name), synced.last_round(context.data, name)
        again = shell("memman", "sync", "--store", name)
        troubles = last.get("troubles", [])
        if not troubles and not os.path.isdir(folder):
            troubles = [f"the folder {folder} is not there"]
        for trouble in troubles:
            yield warn(f"store {name}: {trouble}", again)
        if not troubles:
            yield ok(f"store {name} is synced by {folder}" + ("" if last else "; no round was made yet"))
