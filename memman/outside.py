"""Whether what a session did was done outside a repository: nothing of it is told there."""

import os
import re

from memman.config.repository import repository

# Where every machine has programs and settings, and nobody work of their own.
_SYSTEM = re.compile(r"/(?:bin|dev|etc|lib\d*|proc|sbin|sys|usr)(?:/|$)")
_ADDRESS = re.compile(r"\b(?!file:)[a-z][\w+.-]*://[^\s'\"]*")
# What may name a path: a word, what follows a sign that joins it to others, or the letter of an option.
_PATH = re.compile(r"(?:(?<![\w-])-\w(?=[./~$]))?([^\s'\"`=:,;()<>|&{}\[\]\\]+)")
_UP = re.compile(r"(?<![\w.-])(?:-\w)?\.\.(?![\w.])")
# What goes to a folder that nobody can read off.
_SOMEWHERE = re.compile(r"\b(?:cd|pushd)(?:\s*$|\s*[;&|\n]|\s+-(?=[\s;&|]|$))|(?:\b(?:cd|pushd)|\s-C)\s*[\"']?[$`]")


def outside(path: str, root: str) -> bool:
    """Whether a path is not below `root`, or in another repository that is."""
    root, path = os.path.realpath(root), os.path.realpath(path)
    if os.path.commonpath((root, path)) != root:
        return True
    inner = repository(path)
    return inner is not None and len(os.path.realpath(inner.root)) > len(root)


def reaches_out(command: str, folder: str, root: str) -> bool:
    """Whether a command runs outside `root`, or names what lies there, as far as its text tells."""
    if outside(folder, root) or _SOMEWHERE.search(command):
        return True
    depth = os.path.realpath(folder).removeprefix(os.path.realpath(root)).count("/")
    return len(_UP.findall(command)) > depth or any(
        _leads_out(word, folder, root) for word in _PATH.findall(_ADDRESS.sub("", command))
    )


def _leads_out(word: str, folder: str, root: str) -> bool:
    home = re.sub(r"^(?:~(?=/|$)|\$HOME\b)", os.path.expanduser("~"), word)
    if home[:1] in {"~", "$"}:
        return "/" in home or home[0] == "~"
    path = os.path.join(folder, home)
    if home[:1] == "/" and _SYSTEM.match(home):
        return repository(os.path.realpath(path)) is not None
    # What Bazel calls its targets, as `//web:all`, begins as no path does that there is.
    plain = home[:1] == "/" and home[:2] != "//"
    return (plain or (home != "//" and os.path.exists(path))) and outside(path, root)
