"""Whether the file system under the data folder is one that a single kernel writes to, and which kernel that is. Hot.

SQLite's write-ahead log needs memory that every program which opens the file
shares. Over a network, or between a machine and its guests, there is none, and
the files get damaged. `owner` is the record of what was found: its first line
is the running kernel's boot id and the folder's device, and while both are the
same nothing else is looked at.
"""

import os
import time

from memman.config.places import make_private, open_file, put_file, queue_path, setting
from memman.config.schedule import heartbeat_path

# Kinds that several kernels may write to at once.
SHARED = frozenset(
    """
    9p acfs afs beegfs ceph cifs coda davfs drvfs fakeowner fuse gfs gfs2 glusterfs gpfs lustre ncpfs nfs nfs4 ocfs2
    orangefs osxfs panfs prl_fs pvfs2 smb2 smb3 smbfs vboxsf virtiofs vmhgfs wslfs
    """.split()
)
# Kinds of FUSE that lay something over a disk of this machine; any other may lead anywhere.
LAYERS = frozenset(f"fuse.{name}" for name in "cryfs encfs ext2 fuse-overlayfs gocryptfs ntfs ntfs-3g securefs".split())
_MOUNTS = "/proc/self/mounts"
_BOOT, _MACHINE = "/proc/sys/kernel/random/boot_id", "/etc/machine-id"
_ALLOWED = "MEMMAN_UNSAFE_FOLDER"


class Kernel:
    """Who runs: ids of this boot and machine, '' where the system does not say, and the Unix seconds of the boot."""

    __slots__ = ("boot", "host", "machine", "since")

    def __init__(self, boot: str, machine: str, since: float, host: str) -> None:
        self.boot, self.machine, self.since, self.host = boot, machine, since, host


def this_kernel() -> Kernel:
    """Return the kernel that runs this."""
    since = time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else 0.0
    return Kernel(_said(_BOOT).strip(), _said(_MACHINE).strip(), since, os.uname().nodename)


def owner_path(data: str) -> str:
    """Return the path of the record of the kernel that uses the data folder."""
    return data + "/owner"


def ensure_safe_folder(data: str) -> None:
    """Raise UnsafePlace where it is not safe to write; costs three system calls where that is known already."""
    boot = _said(_BOOT).strip()
    if not boot or not _said(owner_path(data)).startswith(_proof(data, boot)):
        claim(data)


def claim(data: str) -> None:
    """Look at everything, and record that this kernel uses the data folder; the first use makes it private.

    Raises UnsafePlace.
    """
    kernel = check(data)
    if not os.path.exists(owner_path(data)):
        make_private(data)
    record = f"{_proof(data, kernel.boot)}{kernel.machine}\n{kernel.host}\n"
    if kernel.boot and os.path.isdir(data) and _said(owner_path(data)) != record:
        try:
            put_file(owner_path(data), record)
        except OSError:  # whoever may not write here is told so by what it came to write
            return


def check(data: str) -> Kernel:
    """Return the kernel that runs this. Raises UnsafePlace where it may not write to the folder."""
    kernel = this_kernel()
    refuse_shared(data, queue_path(data))
    refuse_second(data, kernel)
    return kernel


def refuse_shared(data: str, path: str, mounts: str = _MOUNTS) -> None:
    """Raise UnsafePlace where `path` lies on a file system that several kernels may write to."""
    kind = file_system(path, mounts)
    if shared(kind) and not allowed(data):
        from memman.model.errors import UnsafePlace

        raise UnsafePlace(
            f"{path} lies on {kind}, where SQLite databases can be damaged: move the data folder to a"
            " local disk and set MEMMAN_DATA_DIR; `memman config set unsafe_folder allow` if one machine alone uses it"
        )


def refuse_second(data: str, kernel: Kernel) -> None:
    """Raise UnsafePlace where another kernel used the data folder while this one was running."""
    other = second(data, kernel)
    if other and not allowed(data):
        from memman.model.errors import UnsafePlace

        raise UnsafePlace(
            f"another machine ({other}) has used {data} since this one was booted, and two at once damage it:"
            f" if only this one does from now on, run rm {owner_path(data)}"
        )


def second(data: str, kernel: Kernel) -> str:
    """Name the host whose kernel used the data folder while this one was running, '' for none.

    A machine that was started anew is the same one, and what came to its end
    before this kernel began is no second one.
    """
    proof, machine, host = (*_said(owner_path(data)).split("\n"), "", "", "")[:3]
    boot = proof.partition(" ")[0]
    if not (boot and kernel.boot) or boot == kernel.boot or (machine and machine == kernel.machine):
        return ""
    return (host or "unknown") if _used(data) > kernel.since else ""


def allowed(data: str) -> bool:
    """Whether the env file allows any place."""
    try:
        return setting(data, _ALLOWED) == "allow"
    except OSError:
        return False


def shared(kind: str) -> bool:
    """Whether several kernels may write to a file system of this kind."""
    return kind in SHARED or (kind.startswith("fuse.") and kind not in LAYERS)


def file_system(path: str, mounts: str = _MOUNTS) -> str:
    """Name the file system that holds `path`, '' where the system does not say."""
    path, best, kind = os.path.realpath(path) + "/", "", ""
    for line in _said(mounts).splitlines():
        _, point, named, *_ = (*line.split(" "), "", "", "")
        folder = _unescaped(point).rstrip("/") + "/"
        if named and path.startswith(folder) and len(folder) >= len(best):
            best, kind = folder, named
    return kind


def _unescaped(point: str) -> str:
    """Return a mount point as it is called: the table writes blanks and backslashes in octal."""
    if "\\" not in point:
        return point
    for code, sign in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\043", "#"), ("\\134", "\\")):
        point = point.replace(code, sign)
    return point


def _proof(data: str, boot: str) -> str:
    try:
        return f"{boot} {os.stat(data).st_dev}\n"
    except OSError:
        return f"{boot} -\n"


def _used(data: str) -> float:
    """Return when the data folder was last claimed or drained."""
    times = [0.0]
    for path in (owner_path(data), heartbeat_path(data)):
        try:
            times.append(os.stat(path).st_mtime)
        except OSError:
            continue
    return max(times)


def _said(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape", opener=open_file) as source:
            return source.read()
    except OSError:
        return ""
