"""The repository around a folder, read from its files: no git process. Safe on the hot path.

What a `.git` file, a link or `commondir` claims counts only where git's own back pointer agrees: anybody can write them
into a folder that somebody else unpacks. A folder that another user owns is not asked at all.
"""

import os
import stat
import sys

from memman.config.places import foreign

_MAX_DEPTH = 64
# Clones of clones that are followed to where they come from.
_MAX_CLONES = 4
# Letters of a commit: SHA-1 and SHA-256.
_HASHES = (40, 64)
# Bytes read of a file; packed-refs has a line of some 100 for each branch and tag.
_MOST, _MOST_REFS = 65_536, 4_194_304
_PRIME = 2**61 - 1
# Linux's FS_IOC_GETVERSION: a number that an inode has anew each time it is used.
_GENERATION = 0x80087601
# The folders of other version control, which nothing is read from.
_OTHERS = ("/.hg", "/.jj", "/.svn")
# In the place of a git folder: nothing is found below it.
_NONE = os.devnull


def _text(path: str, most: int = _MOST) -> str:
    """Return a git file's beginning, '' where it cannot be had, whatever the reason: memory does not depend on it."""
    try:
        # Without O_NONBLOCK a named pipe would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):
        return ""
    try:
        regular = stat.S_ISREG(os.fstat(handle).st_mode)
        return os.read(handle, most).decode(errors="replace") if regular else ""
    except OSError:
        return ""
    finally:
        os.close(handle)


class Repository:
    """A work tree.

    `common` is the folder every work tree of the repository shares; `git` is this work tree's own git folder, `root`
    the folder that is the work tree. One that git does not tell of has its root alone.
    """

    __slots__ = ("common", "git", "root")

    def __init__(self, root: str, git: str = _NONE, common: str = "") -> None:
        self.root = root
        self.git = git
        self.common = common or os.path.realpath(root if git == _NONE else git)

    @property
    def commit(self) -> str:
        """The commit checked out, or '' before the first one."""
        head = _text(self.git + "/HEAD").strip()
        if not head.startswith("ref: "):
            return _commit(head)
        name = head[5:]
        for folder in (self.git, self.common):
            if found := _commit(_text(f"{folder}/{name}").strip()):
                return found
        before, found, _ = _text(self.common + "/packed-refs", _MOST_REFS).partition(f" {name}\n")
        return _commit(before[before.rfind("\n") + 1 :]) if found else ""

    @property
    def shallow(self) -> bool:
        """Whether its first commits are not here."""
        return os.path.exists(self.common + "/shallow")

    @property
    def name(self) -> str:
        """The origin's address without scheme, user and port, or else the folder; of a folder's clone what that has."""
        place = self
        for _ in range(_MAX_CLONES):
            origin = place.origin
            if origin[:1] != "/":
                return origin or place.folder
            there = repository(origin)
            if there is None or there.root != origin or there.common == place.common:
                return origin
            place = there
        return place.folder

    @property
    def folder(self) -> str:
        """The folder that all work trees share, or that its git folder is in."""
        return self.common.removesuffix("/.git")

    @property
    def origin(self) -> str:
        """The address of the remote named origin, '' where there is none that says it to anybody else."""
        named = address(_setting(_NONE if self.git == _NONE else self.common, '[remote "origin"]', "url"))
        return "" if named.startswith(".") else named


def place(folder: str) -> str:
    """Tell a folder from whatever else comes to its path, or has its inode, later. Raises OSError.

    It stays the same where the folder is moved on its disk, unless the file system has no births (tmpfs, overlay).
    """
    inode = os.stat(folder).st_ino
    try:
        # git writes it once, when a repository is made.
        os.stat(folder + "/HEAD")
        return f"{inode}-{os.stat(folder + '/description').st_mtime_ns}"
    except OSError:
        return f"{inode}-{_birth(folder) or digest(folder)}"


def _birth(folder: str) -> int:
    """Return what tells a folder from others that had its inode before, 0 where the file system does not say it."""
    if born := getattr(os.stat(folder), "st_birthtime", 0):
        return int(born * 1000)
    from fcntl import ioctl

    try:
        handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC | os.O_DIRECTORY)
    except OSError:
        return 0
    try:
        return int.from_bytes(ioctl(handle, _GENERATION, bytes(8)), sys.byteorder)
    except OSError:
        return 0
    finally:
        os.close(handle)


def digest(folder: str) -> int:
    """Return a number for a path."""
    return int.from_bytes(os.fsencode(folder), "big") % _PRIME


def _commit(text: str) -> str:
    """Return a commit's hash, '' for anything else that a file may hold."""
    return text if len(text) in _HASHES and not text.strip("0123456789abcdef") else ""


def address(url: str) -> str:
    """Write an address as host/path, however git is told it: https://host/path, ssh://user@host:22/path, host:path."""
    rest = (url.partition("://")[2] or url).rstrip("/")
    if rest[:1] in ("/", ".") or not rest:
        return rest.removesuffix(".git").removesuffix("/")
    host, slash, path = rest.partition("/")
    host, colon, port = host.rpartition("@")[2].partition(":")
    if colon and not port.isdigit():
        path, slash = port + slash + path, "/"
    return (host.lower() + slash + path).removesuffix(".git")


def repository(folder: str) -> Repository | None:
    """Find the repository around `folder`, or None."""
    for _ in range(_MAX_DEPTH):
        try:
            status = os.lstat(folder + "/.git")
        except (OSError, ValueError):
            if any(os.path.isdir(folder + other) for other in _OTHERS):
                return Repository(folder)
            parent = os.path.dirname(folder)
            if parent == folder:
                return None
            folder = parent
            continue
        if foreign(status.st_uid):
            return Repository(folder)
        if stat.S_ISDIR(status.st_mode):
            return Repository(folder, folder + "/.git")
        return _linked(folder, stat.S_ISLNK(status.st_mode))
    return None


def _linked(folder: str, link: bool) -> Repository | None:
    """Return the repository that a `.git` which is no folder leads to, if that knows of this work tree."""
    said = "" if link else _text(folder + "/.git").strip().removeprefix("gitdir: ")
    git = os.path.realpath(os.path.join(folder, ".git" if link else said))
    if not (os.path.isdir(git) if link else said):
        return None
    shared, common = _text(git + "/commondir").strip(), git
    if shared:
        common = os.path.realpath(os.path.join(git, shared))
        back = os.path.dirname(_text(git + "/gitdir").strip()) if os.path.dirname(git) == common + "/worktrees" else ""
    else:
        back = _setting(git, "[core]", "worktree")
    known = back and os.path.realpath(os.path.join(git, back)) == os.path.realpath(folder)
    return Repository(folder, git, common) if known and not _foreign(common) else Repository(folder)


def _foreign(path: str) -> bool:
    try:
        return foreign(os.stat(path).st_uid)
    except OSError:
        return True


def _setting(git: str, section: str, key: str) -> str:
    """Return what a repository's configuration says, '' where it says nothing."""
    inside = False
    for line in _text(git + "/config").split("\n"):
        text = line.strip()
        if text.startswith("["):
            inside = text == section
        elif inside and text.startswith(key):
            return text.partition("=")[2].strip().strip('"')
    return ""
