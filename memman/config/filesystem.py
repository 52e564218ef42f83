"""Whether SQLite's log is safe where the data folder lies: over a network, or shared by two kernels, it is not. Hot."""

import os

from memman.config.places import make_private, put_file, queue_path, setting, text_at

# Kinds that several kernels may write to at once; and of FUSE those that only lay something over a local disk.
SHARED = frozenset("""9p acfs afs beegfs ceph cifs coda davfs drvfs fakeowner fuse gfs gfs2 glusterfs gpfs lustre ncpfs
nfs nfs4 ocfs2 orangefs osxfs panfs prl_fs pvfs2 smb2 smb3 smbfs vboxsf virtiofs vmhgfs wslfs""".split())  # fmt: skip
LAYERS = frozenset(f"fuse.{name}" for name in "cryfs encfs ext2 fuse-overlayfs gocryptfs ntfs ntfs-3g securefs".split())


def ensure_safe_folder(data: str) -> None:
    """Raise as `check` does; the first use makes the folder private, and `owner` there names the device found safe."""
    device, owner = f"{os.stat(data).st_dev}\n" if os.path.isdir(data) else "", data + "/owner"
    if device and text_at(owner) == device:
        return
    check(data)
    try:
        if device:
            if not os.path.exists(owner):
                make_private(data)
            put_file(owner, device)
    except OSError:  # whoever may not write here is told so by what it came to write
        return


def check(data: str) -> None:
    """Raise UnsafePlace where memman may not write to the data folder."""
    refuse_shared(data, queue_path(data))


def refuse_shared(data: str, path: str, mounts: str = "/proc/self/mounts") -> None:
    """Raise UnsafePlace where `path` lies on a shared file system, unless the settings allow it."""
    kind = file_system(path, mounts)
    if shared(kind) and setting(data, "MEMMAN_UNSAFE_FOLDER") != "allow":
        from memman.model.errors import UnsafePlace

        why = "SQLite databases get damaged there: set MEMMAN_DATA_DIR to a folder on a local disk"
        raise UnsafePlace(f"{path} lies on {kind}: {why}, or `memman config set unsafe_folder allow`")


def shared(kind: str) -> bool:
    """Whether several kernels may write to a file system of this kind."""
    return kind in SHARED or (kind.startswith("fuse.") and kind not in LAYERS)


def file_system(path: str, mounts: str = "/proc/self/mounts") -> str:
    """Name the file system that holds `path`, '' where the system does not say."""
    path, best, kind = os.path.realpath(path) + "/", "", ""
    for line in text_at(mounts).split("\n"):
        _, point, named, *_ = (*line.split(" "), "", "", "")
        folder = point.replace("\\040", " ").rstrip("/") + "/"
        if named and path.startswith(folder) and len(folder) >= len(best):
            best, kind = folder, named
    return kind
