"""The git repository around a folder, read from its files: no git process. Safe on the hot path."""

import os
import stat

_MAX_DEPTH = 64


def _text(path: str) -> str:
    """Return a git file's content, '' where it cannot be had, whatever the reason: memory does not depend on it."""
    try:
        with open(path, encoding="utf-8", errors="replace") as source:
            return source.read()
    except (OSError, ValueError):
        return ""


class Repository:
    """A git work tree.

    `common` is the folder every work tree of the repository shares, and so its
    identity; `git` is this work tree's own git folder.
    """

    __slots__ = ("common", "git")

    def __init__(self, git: str) -> None:
        self.git = git
        shared = _text(git + "/commondir").strip()
        self.common = os.path.realpath(os.path.join(git, shared)) if shared else os.path.realpath(git)

    @property
    def commit(self) -> str:
        """The commit checked out, or '' before the first one."""
        head = _text(self.git + "/HEAD").strip()
        if not head.startswith("ref: "):
            return head
        name = head[5:]
        for folder in (self.git, self.common):
            if found := _text(f"{folder}/{name}").strip():
                return found
        for line in _text(self.common + "/packed-refs").splitlines():
            if line.endswith(" " + name):
                return line[:40]
        return ""

    @property
    def name(self) -> str:
        """The origin's address without scheme and credentials, or else the shared folder's path."""
        inside = False
        for line in _text(self.common + "/config").splitlines():
            text = line.strip()
            if text.startswith("["):
                inside = text == '[remote "origin"]'
            elif inside and text.startswith("url"):
                return _address(text.partition("=")[2].strip())
        return self.common.removesuffix("/.git")


def _address(url: str) -> str:
    rest = url.partition("://")[2] or url
    host, slash, path = rest.partition("/")
    return (host.rpartition("@")[2] + slash + path).removesuffix(".git")


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
            return Repository(git)
        linked = _text(git).strip().removeprefix("gitdir: ")
        return Repository(os.path.join(folder, linked)) if linked else None
    return None
