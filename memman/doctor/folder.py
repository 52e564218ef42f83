"""Whether the data folder can be used, and lies where SQLite's write-ahead log is safe."""

import os
from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, fail, ok

# File systems that do not share memory or locks with every program that may open the file.
UNSAFE = frozenset("nfs nfs4 cifs smb3 smbfs 9p virtiofs fuse.sshfs fuse.gvfsd-fuse afs vboxsf prl_fs".split())
_MOUNTS = "/proc/self/mounts"


def check(context: Context) -> Iterator[Finding]:
    """Look at what the data folder is, and on which file system."""
    data = context.data
    if not os.path.exists(data):
        yield ok(f"{data} is not there yet: the first note makes it")
    elif not os.path.isdir(data):
        yield fail(f"{data} is no folder", hint="move it away, or set MEMMAN_DATA_DIR")
    elif not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        yield fail(f"{data} may not be read and written", hint="give it back to its owner, or set MEMMAN_DATA_DIR")
    elif (kind := file_system(data)) in UNSAFE:
        yield fail(
            f"{data} lies on {kind}, where SQLite files of several programs get damaged",
            hint="move the folder to a local disk and set MEMMAN_DATA_DIR",
        )
    else:
        yield ok(data + (f" on {kind}" if kind else ""))


def file_system(path: str, mounts: str = _MOUNTS) -> str:
    """Name the file system that holds `path`, '' where the system does not say."""
    try:
        with open(mounts, encoding="utf-8", errors="replace") as lines:
            rows = [line.split()[:3] for line in lines]
    except OSError:
        return ""
    path, best, kind = os.path.realpath(path) + "/", "", ""
    for _, point, named in (row for row in rows if len(row) == 3):  # noqa: PLR2004 - device, point, kind
        folder = point.replace("\\040", " ").rstrip("/") + "/"
        if path.startswith(folder) and len(folder) >= len(best):
            best, kind = folder, named
    return kind
