"""Whether there is room left on the disk.

Looks at: free space
Finds: warns below 500 MiB, fails below 20 MiB
"""

import os
import shutil
from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, fail, ok, skipped, warn

# A drain writes a few kilobytes a note, a migration copies a store.
_LITTLE, _NONE = 500 * 2**20, 20 * 2**20


def check(context: Context) -> Iterator[Finding]:
    """Look at the room left."""
    if not os.path.isdir(context.data):
        yield skipped("no data folder yet")
        return
    free = shutil.disk_usage(context.data).free
    says = f"{free / 2**30:.1f} GiB free"
    if free < _NONE:
        yield fail(says, hint="free some space: new notes cannot be saved")
    elif free < _LITTLE:
        yield warn(says, hint="free some space")
    else:
        yield ok(says)
