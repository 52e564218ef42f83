"""Folders of which nothing is to be remembered. Safe on the hot path.

A work tree says so in `.memmanignore` at its root, for itself; the person in
MEMMAN_IGNORE, for any folder. Patterns are a small part of git's: names parted
by `/`, `*` for anything within a name. One without a `/` before its end fits a
folder anywhere, any other begins at the root. What lies below goes with it.
"""

import os

from memman.config.places import read_file, setting
from memman.config.repository import repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.config.repository import Repository

FILE = ".memmanignore"
KEY = "MEMMAN_IGNORE"


def ignored(data: str, folder: str, here: "Repository | None") -> str:
    """Return what says that nothing of `folder` is to be remembered, '' for nothing.

    Raises OSError or CannotWrite where that cannot be known.
    """
    real = os.path.realpath(folder)
    here = here if real == folder else repository(real)
    root = here.root if here else real
    said = read_file(f"{root}/{FILE}")
    if said:
        names = real.removeprefix(root).strip("/").split("/") if real != root else []
        for line in said.splitlines():
            pattern = line.strip()
            if pattern and pattern[0] != "#" and matches(pattern, names):
                return f"{root}/{FILE} says {pattern!a}"
    listed = setting(data, KEY)
    for pattern in map(str.strip, listed.split(",") if listed else ()):
        if pattern and matches(os.path.expanduser(pattern), real.strip("/").split("/")):
            return f"{KEY} says {pattern!a}"
    return ""


def matches(pattern: str, names: list[str]) -> bool:
    """Whether a pattern fits the folder whose path from the root is `names`, or one that it lies in.

    A bare `*` or `/` fits the root itself.
    """
    pattern = pattern.removeprefix("**/").removesuffix("/**")
    parts = pattern.strip("/").split("/")
    if parts in ([""], ["*"]):
        return True
    anchored = "/" in pattern.rstrip("/")
    starts = [0] if anchored else range(len(names))
    return any(_fit(parts, names[start : start + len(parts)]) for start in starts)


def _fit(parts: list[str], names: list[str]) -> bool:
    return len(parts) == len(names) and all(map(_fits, parts, names))


def _fits(part: str, name: str) -> bool:
    """Whether a pattern for one name fits it."""
    first, *rest = part.split("*")
    if not rest:
        return part == name
    at = len(first)
    if not name.startswith(first):
        return False
    for piece in rest[:-1]:
        found = name.find(piece, at)
        if found < 0:
            return False
        at = found + len(piece)
    return name.endswith(rest[-1]) and len(name) - len(rest[-1]) >= at
