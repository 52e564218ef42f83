"""Paths below the data folder, where it may lie, and folders and files made private from the start. Hot."""

import os
from errno import EINVAL, EPERM, EROFS
from io import StringIO
from stat import S_ISDIR, S_ISLNK, S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

FOLDER_MODE = 0o700
FILE_MODE = 0o600
# Files of the worker's log, the newest first.
LOG_FILES = 3
# The most that the record of which rules fired may hold.
HITS_BYTES = 65_536
# Links that are followed one after another, as on Linux.
_MOST_LINKS = 40
# Kinds that several kernels may write to at once; and of FUSE those that only lay something over a local disk.
SHARED = frozenset("""9p acfs afs beegfs ceph cifs coda davfs drvfs fakeowner fuse gfs gfs2 glusterfs gpfs lustre ncpfs
nfs nfs4 ocfs2 orangefs osxfs panfs prl_fs pvfs2 smb2 smb3 smbfs vboxsf virtiofs vmhgfs wslfs""".split())  # fmt: skip
LAYERS = frozenset(f"fuse.{name}" for name in "cryfs encfs ext2 fuse-overlayfs gocryptfs ntfs ntfs-3g securefs".split())
_still = ""


def data_dir() -> str:
    """Return the data folder: MEMMAN_DATA_DIR, or ~/.memman. Raises BadConfig where it is not one's own."""
    return own_folder(os.environ.get("MEMMAN_DATA_DIR") or "~/.memman")


def own_folder(chosen: str) -> str:
    """Return a data folder's path in full. Raises BadConfig where it is not one's own."""
    if chosen[0] == "~" and os.environ.get("HOME") != "":
        chosen = os.path.expanduser(chosen)
    if chosen[0] == "~":
        from memman.model.errors import BadConfig

        raise BadConfig("the home folder is unknown: set HOME or MEMMAN_DATA_DIR")
    data = os.path.abspath(chosen)
    _refuse_shared(data)
    return data


def keep_still() -> None:
    """Have this process write nothing below the data folder from here on."""
    global _still  # noqa: PLW0603 - as global as what it is said of
    _still = data_dir() + "/"


def kept_still() -> bool:
    """Whether this process is to write nothing."""
    return bool(_still)


def check_still(path: str) -> None:
    """Raise OSError where `path` is not to be written."""
    if _still and (os.path.realpath(path) + "/").startswith((_still, os.path.realpath(_still) + "/")):
        raise OSError(EROFS, "--readonly was given", path)


def foreign(owner: int) -> bool:
    """Whether a file's owner is somebody to be wary of: to root nobody is, to anybody else whoever is neither."""
    return os.geteuid() not in {0, owner} and owner != 0


def _refuse_shared(data: str) -> None:
    """Raise BadConfig for a folder that another user made, linked or can change: all in it would be theirs to say."""
    link = others_link(data)
    try:
        folder = os.stat(data)
        if not link and folder.st_uid and not os.geteuid():
            link = _link_below(data)
    except OSError:  # who opens it says so
        if not link:
            return
    if link:
        why = f"cannot be used: {link} is a link that belongs to another user; remove it, or set MEMMAN_DATA_DIR"
    elif foreign(folder.st_uid):
        why = "belongs to another user: set MEMMAN_DATA_DIR to a folder of your own"
    elif S_ISDIR(folder.st_mode) and folder.st_mode & 0o002:
        why = f"is writable by every user (mode {folder.st_mode & 0o7777:04o}): run chmod 700 on it"
    else:
        return
    from memman.model.errors import BadConfig

    raise BadConfig(f"{data} {why}")


def others_link(path: str) -> str:
    """Return the first link on the way to `path` that another user may have laid, '' for none.

    Root follows no link but its own. Anybody else follows another's, as Linux does, where that one alone could lay it.
    """
    me, place, left, links = os.geteuid(), "/", os.path.abspath(path).split("/"), 0
    while left and links < _MOST_LINKS:
        step = os.path.normpath(os.path.join(place, left.pop(0)))
        try:
            info = os.lstat(step)
            if not S_ISLNK(info.st_mode):
                place = step
                continue
            if info.st_uid not in {0, me} and not (me and left and not os.stat(place).st_mode & 0o022):
                return step
            left = os.readlink(step).split("/") + left
        except OSError:
            return ""
        links += 1
        place = place if left[0] else "/"
    return ""


def _link_below(data: str) -> str:
    """Return a link in a folder that is not root's own, '' for none: root would follow it for whoever laid it."""
    for place, folders, files in os.walk(data):
        for name in (*folders, *files):
            if os.path.islink(path := f"{place}/{name}") and os.lstat(path).st_uid:
                return path
    return ""


def check_folder(data: str) -> None:
    """Raise CannotWrite when there is something at `data` that is not a folder we may look into."""
    if os.path.exists(data) and not (os.path.isdir(data) and os.access(data, os.R_OK | os.X_OK)):
        from memman.model.errors import CannotWrite

        raise CannotWrite(f"{data} is not a readable folder: check it, or set MEMMAN_DATA_DIR")


def log_path(data: str, number: int = 0) -> str:
    """Return the path of the log, or with a number of an older part of it."""
    return f"{data}/logs/worker.jsonl" + (f".{number}" if number else "")


def queue_path(data: str) -> str:
    """Return the path of queue.db."""
    return data + "/queue.db"


def store_path(data: str, store: str) -> str:
    """Return the path of a store's database. `store` must be a checked name."""
    return f"{data}/data/{store}/memman.db"


def reach_path(store: str) -> str:
    """Return the path of the file that a shared store has beside its database, the path of which is `store`."""
    return store.rpartition("/")[0] + "/reach"


def shown_path(data: str) -> str:
    """Return the path of the bounded record of what recall showed."""
    return data + "/shown.log"


def asked_path(data: str) -> str:
    """Return the path of the bounded record of what recall was asked and had no answer to."""
    return data + "/asked.log"


def append_line(path: str, line: str, most: int) -> None:
    """Append a line to a private record of at most about `most` bytes; it may fail silently."""
    try:
        handle = open_file(path, os.O_APPEND | os.O_CREAT | os.O_WRONLY)
        status = os.fstat(handle)
        if status.st_mode & 0o777 != FILE_MODE:  # a fresh file, under a narrow umask
            os.fchmod(handle, FILE_MODE)
        if status.st_size < most:
            os.write(handle, line.encode())
        os.close(handle)
    except OSError:
        return


def rules_path(data: str) -> str:
    """Return the path of the rules as hooks read them, of all stores; without rules there is no such file."""
    return data + "/rules"


def hits_path(data: str) -> str:
    """Return the path of the bounded record of which rules fired."""
    return data + "/rule-hits"


def sessions_path(data: str) -> str:
    """Return the folder of what hooks know about the sessions of agents, a file each."""
    return data + "/sessions"


def files_of(folder: str) -> list[str]:
    """Return the paths of what is in a folder, none where it is not there."""
    try:
        return [f"{folder}/{name}" for name in sorted(os.listdir(folder))]
    except OSError:
        return []


def handovers_path(data: str) -> str:
    """Return the folder of what sessions leave for the next, a file each."""
    return data + "/handovers"


def arrivals_path(data: str) -> str:
    """Return the folder of notes that hooks have not got into the queue yet, a file each."""
    return data + "/arrivals"


def make_folder(path: str) -> None:
    """Create a folder and its parents with mode 0700, whatever the umask."""
    if os.path.isdir(path):
        return
    check_still(path)
    make_folder(os.path.dirname(path))
    try:
        os.mkdir(path, FOLDER_MODE)
    except FileExistsError:
        return
    os.chmod(path, FOLDER_MODE)
    fsync_folder(os.path.dirname(path))


def make_private(folder: str) -> None:
    """Take a folder of one's own that was made under a usual umask from everybody else."""
    try:
        info = os.stat(folder)
        if info.st_uid == os.geteuid() and info.st_mode & ~FOLDER_MODE & 0o777:
            check_still(folder)
            os.chmod(folder, info.st_mode & FOLDER_MODE)
    except OSError:  # doctor says whose it is
        return


def ensure_safe_folder(data: str) -> None:
    """Make the folder private at its first use, whose file `owner` names the device found safe. Raises UnsafePlace."""
    device, owner = f"{os.stat(data).st_dev}\n" if os.path.isdir(data) else "", data + "/owner"
    if device and text_at(owner) == device:
        return
    refuse_shared(data)
    try:
        if device:
            if not os.path.exists(owner):
                make_private(data)
            put_file(owner, device)
    except OSError:  # whoever may not write here is told so by what it came to write
        return


def refuse_shared(data: str, path: str = "", mounts: str = "/proc/self/mounts") -> None:
    """Raise UnsafePlace where `path`, or the data folder, lies on a shared file system and no setting allows that.

    SQLite's log is not safe over a network, nor where two kernels share a file system.
    """
    path = path or queue_path(data)
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


def fsync_folder(folder: str) -> None:
    """Have a power cut leave the names in a folder as they are now, where the file system can."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def make_file(path: str) -> None:
    """Create an empty file with mode 0600 unless it is there. SQLite gives -wal and -shm the same mode."""
    check_still(path)
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, FILE_MODE)
    except FileExistsError:
        return
    os.fchmod(handle, FILE_MODE)
    os.close(handle)


def write_file(path: str, text: str, mode: int = FILE_MODE) -> None:
    """Replace a small file atomically and durably; of a link, what it leads to, if that is one's own.

    Raises CannotWrite.
    """
    try:
        put_file(path, text, mode)
    except OSError as error:
        _cannot(path, "written", error)


def put_file(path: str, text: str, mode: int = FILE_MODE) -> None:
    """Do what `write_file` does. Raises OSError, where a pipe, a device or a folder is there too: it would be lost."""
    check_still(path)
    target = os.path.realpath(path)
    if os.path.exists(target):
        there = os.stat(target)
        if not S_ISREG(there.st_mode):
            raise OSError(EINVAL, "it is not a regular file", path)
        if os.path.islink(path) and there.st_uid != os.geteuid():
            raise OSError(EPERM, "it leads to a file of another user", path)
    if others_link(path):
        raise OSError(EPERM, "it is reached by a link of another user", path)
    draft = f"{target}.{os.getpid()}.new"
    make_folder(os.path.dirname(target))
    handle = os.open(draft, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, FILE_MODE)
    try:
        os.fchmod(handle, mode)
        left = text.encode()
        while left:  # a disk that is nearly full takes some of it
            left = left[os.write(handle, left) :]
        os.fsync(handle)
    except OSError:
        os.unlink(draft)
        raise
    finally:
        os.close(handle)
    os.replace(draft, target)
    fsync_folder(os.path.dirname(target))


def open_file(path: str, flags: int, folder: int | None = None) -> int:
    """Open a regular file, private where this makes it; whatever else stands there is not waited for. Raises OSError.

    A link is followed to read, never to write. Fits `open` as its `opener`; `folder` is one that is open.
    """
    if flags & (os.O_WRONLY | os.O_RDWR):
        check_still(path)
        flags |= os.O_NOFOLLOW
    handle = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, FILE_MODE, dir_fd=folder)
    if not S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(EINVAL, "it is not a regular file", path)
    return handle


def check_regular(path: str) -> None:
    """Raise CannotWrite where there is something at `path` that is no regular file: to open it may wait for ever."""
    try:
        regular = S_ISREG(os.stat(path).st_mode)
    except OSError:  # who opens it says so
        return
    if not regular:
        from memman.model.errors import CannotWrite

        raise CannotWrite(f"{path} is not a regular file: move it away")


def read_file(path: str) -> str:
    """Return a small text file's content, or '' where there is none. Raises CannotWrite where it may not be read."""
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_file) as source:
            return source.read()
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        _cannot(path, "read", error)


def split_lines(text: str, *, ends: bool = False) -> list[str]:
    """Return the lines of a text, also with their `ends`; nothing but a line feed or a carriage return ends one."""
    found = list(StringIO(text, newline="" if ends else None))
    return found if ends else [line.removesuffix("\n") for line in found]


def text_at(path: str) -> str:
    """Return a text file's content, or '' where there is none or it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_file) as source:
            return source.read()
    except OSError:
        return ""


def setting(data: str, name: str) -> str:
    """Return what the env file says of one key, unchecked, '' where it says nothing. Raises OSError."""
    said = ""
    try:
        with open(data + "/env", encoding="utf-8", errors="replace", opener=open_file) as lines:
            for line in lines:
                key, value = entry(line)
                if key == name:
                    said = value
    except (FileNotFoundError, NotADirectoryError):
        return ""
    return said


def entry(line: str) -> tuple[str, str]:
    """Return the key and the value of a line of the env file as people write it, ('', '') where there is none.

    `export` before it, small letters, blanks, a colon or a blank for the sign, quotes and a comment say nothing.
    """
    line = line.lstrip("\ufeff").strip()
    if line[:1] in ("", "#"):
        return "", ""
    line = line.removeprefix("export ")
    name, equals, value = line.partition("=")
    if not equals:
        name, _, value = line.partition(" ")
        name = name.rstrip(":")
    return name.strip().upper(), _bare(value.strip())


def _bare(value: str) -> str:
    """Take a value out of its quotes, or from before its comment."""
    end = value.find(value[0], 1) if value[:1] in ('"', "'") else -1
    if end > 0 and value[end + 1 :].lstrip()[:1] in ("", "#"):
        return value[1:end].strip()
    comment = next((n for n, char in enumerate(value) if char == "#" and value[:n][-1:] in ("", " ", "\t")), None)
    return value[:comment].rstrip()


def _cannot(path: str, done: str, error: OSError) -> "NoReturn":
    from memman.model.errors import CannotWrite

    raise CannotWrite(f"{path} could not be {done} ({error.strerror})") from error
