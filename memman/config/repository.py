"""The git repository around a folder, read from its files: no git process. Safe on the hot path."""

import os
import stat

_MAX_DEPTH = 64
# Clones of clones that are followed to where they come from.
_MAX_CLONES = 4
# Letters of a commit: SHA-1 and SHA-256.
_HASHES = (40, 64)
# Bytes read of a file; packed-refs has a line of some 100 for each branch and tag.
_MOST, _MOST_REFS = 65_536, 4_194_304
# In a repository's git folder: the name that a person gave to it, and so to every other that is given the same.
MARKER = "memman-scope"


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


def marker(common: str) -> str:
    """Return the name that a person gave to a repository, by its shared git folder, '' for none."""
    return _text(f"{common}/{MARKER}").strip()


def folder(common: str) -> str:
    """Return the folder that all work trees of a repository share, or that its git folder is in."""
    return common.removesuffix("/.git")


class Repository:
    """A git work tree.

    `common` is the folder every work tree of the repository shares, and so its
    identity; `git` is this work tree's own git folder, `root` the folder that is the work tree.
    """

    __slots__ = ("common", "git", "root")

    def __init__(self, git: str, root: str) -> None:
        self.git = git
        self.root = root
        shared = _text(git + "/commondir").strip()
        self.common = os.path.realpath(os.path.join(git, shared)) if shared else os.path.realpath(git)

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
    def marker(self) -> str:
        """The name that a person gave to the repository, '' for none; no clone brings it along."""
        return marker(self.common)

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
        return folder(self.common)

    @property
    def origin(self) -> str:
        """The address of the remote named origin, '' where there is none that says it to anybody else."""
        inside = False
        for line in _text(self.common + "/config").splitlines():
            text = line.strip()
            if text.startswith("["):
                inside = text == '[remote "origin"]'
            elif inside and text.startswith("url"):
                named = address(text.partition("=")[2].strip())
                return "" if named.startswith(".") else named
        return ""


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
        git = folder + "/.git"
        try:
            mode = os.stat(git).st_mode
        except (OSError, ValueError):
            parent = os.path.dirname(folder)
            if parent == folder:
                return None
            folder = parent
            continue
        if stat.S_ISDIR(mode):
            return Repository(git, folder)
        linked = _text(git).strip().removeprefix("gitdir: ")
        return Repository(os.path.join(folder, linked), folder) if linked else None
    return None
