"""Folders of which nothing is to be remembered. Safe on the hot path.

A folder lists them in its `.memmanignore`, for itself and what lies below, and
a work tree at its root for its linked trees, too; the person in MEMMAN_IGNORE,
for any folder. Patterns are a small part of git's: names parted
by `/`, `*` for anything within a name, `?` for one character, `**` for any
folders. One without a `/` before its end fits a folder anywhere, any other
begins at the root; a `/` before it may be that of the list or of the disk. What
lies below goes with it, and capitals count as small letters. A list that holds
anything else leaves out everything.
"""

import os

from memman.config.places import foreign, read_file, setting, split_lines
from memman.config.repository import repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

FILE = ".memmanignore"
KEY = "MEMMAN_IGNORE"
# What a pattern of git's, a shell's or another encoding's has, or another kind of list, and none of ours.
_FOREIGN_START, _FOREIGN = ("!", "'", "%", "-", "^", "~"), frozenset('[]{}\\,;:|<>"`$\ufffd')


def ignored(data: str, folder: str) -> str:
    """Return what says that nothing of `folder` is to be remembered, '' for nothing.

    Raises OSError or CannotWrite where that cannot be known.
    """
    real = os.path.realpath(folder)
    shell = os.environ.get("PWD", "")
    links = [path for path in (folder, shell) if path[:1] == "/" and os.path.realpath(path) == real]
    for place in dict.fromkeys((real, *map(os.path.normpath, links))):
        for where, root, line in _lists(data, place):
            if not understood(line, where, root):
                return f"{where} is not understood at {line!a}, so it excludes everything"
            for one in (line, _cut(line)):
                for base in (root, "/") if one[0] == "/" else (root,):
                    names = [name for name in place.removeprefix(base).split("/") if name]
                    if matches(one, names) or _leads(base, one, real):
                        return f"{where} says {line!a}"
    return ""


def misread(data: str, folder: str) -> list[str]:
    """Return what is not understood of the lists that count in `folder`: for each such line, where it stands and it."""
    found = _lists(data, os.path.realpath(folder))
    return [
        f"{where} is not understood at {line!a}" for where, root, line in found if not understood(line, where, root)
    ]


def understood(line: str, where: str, root: str) -> bool:
    """Whether a line of a list is a pattern of ours. One with a blank has to name a folder that is there."""
    pattern = _cut(line)
    if pattern.startswith(_FOREIGN_START) or _FOREIGN & set(pattern) or "//" in pattern or ".." in pattern.split("/"):
        return False
    if not pattern.replace("\t", " ").isprintable():
        return False
    bases = (root, os.path.dirname(where), "/" if pattern[0] == "/" else root)
    return len(pattern.split()) == 1 or any(os.path.isdir(f"{base}/{pattern}") for base in bases)


def matches(pattern: str, names: "Sequence[str]") -> bool:
    """Whether a pattern fits the folder whose path from the root is `names`, or one that it lies in.

    A bare `*` or `/` fits the root itself.
    """
    parts = _parts(pattern)
    if parts in ([], ["*"]):
        return True
    anywhere = [] if "/" in pattern.rstrip("/") else ["**"]
    return _glob([*anywhere, *parts, "**"], names, "**", _fits)


def _lists(data: str, folder: str) -> "Iterator[tuple[str, str, str]]":
    """Yield each line of the lists that count in `folder`: where the list is, where its patterns begin, and it."""
    here = repository(folder)
    if here and (main := here.common.removesuffix("/.git")) != here.root:
        yield from _patterns(f"{main}/{FILE}", here.root)
    root, above = here.root if here else folder, folder
    while True:
        path = f"{above.rstrip('/')}/{FILE}"
        if _lies(above, root) or _ours(path):
            yield from _patterns(path, above)
        if above == "/":
            break
        above = os.path.dirname(above)
    listed = map(str.strip, setting(data, KEY).split(","))
    # One that begins in no folder that is known is taken for a name anywhere.
    yield from ((KEY, "/", _home(pattern.removeprefix("./"))) for pattern in listed if pattern)


def _ours(path: str) -> bool:
    """Whether a list above a work tree is its owner's, or root's: another user's says nothing here."""
    try:
        return not foreign(os.lstat(path).st_uid)
    except OSError:
        return False


def _patterns(path: str, root: str) -> "Iterator[tuple[str, str, str]]":
    """Yield the lines of a list that say something; of a link that leads nowhere one that nobody understands."""
    broken = os.path.islink(path) and not os.path.exists(path)
    for line in split_lines("! a link that leads nowhere" if broken else read_file(path).removeprefix("\ufeff")):
        if (text := line.strip()) and text[0] != "#":
            yield path, root, _home(text)


def _home(pattern: str) -> str:
    """Return a pattern with the home folder in the place of a ~ before it."""
    return os.path.normpath(os.path.expanduser(pattern)) if pattern[0] == "~" else pattern


def _cut(line: str) -> str:
    """Return a line without the comment after its pattern."""
    at = next((at for at in range(1, len(line)) if line[at] == "#" and line[at - 1] in " \t"), len(line))
    return line[:at].rstrip()


def _parts(pattern: str) -> list[str]:
    return [part for part in pattern.split("/") if part not in ("", ".")]


def _leads(root: str, pattern: str, real: str) -> bool:
    """Whether `real` is a folder that a pattern leads to by links, or lies in one."""
    parts = [part for part in _parts(pattern) if part != "**"]
    return any(_lies(real, path) for path in _led(os.path.realpath(root), parts, real))


def _led(folder: str, parts: list[str], real: str) -> "Iterator[str]":
    """Yield the folders that a pattern fits below `folder`, without links; of many those on the way to `real`."""
    if not parts:
        yield folder
    elif not {"*", "?"} & set(parts[0]) and os.path.lexists(f"{folder}/{parts[0]}"):
        yield from _led(os.path.realpath(f"{folder}/{parts[0]}"), parts[1:], real)
    else:
        try:
            found = [os.path.realpath(one.path) for one in os.scandir(folder) if _fits(parts[0], one.name)]
        except OSError:
            return
        for path in found:
            if _lies(real, path):
                yield from _led(path, parts[1:], real)


def _lies(real: str, folder: str) -> bool:
    return f"{real}/".startswith(f"{folder.rstrip('/')}/")


def _fits(part: str, name: str) -> bool:
    """Whether a pattern for one name fits it, in small letters or capitals, however accents are written."""
    return _glob(_folded(part), _folded(name), "*", lambda wanted, char: wanted in ("?", char))


def _folded(name: str) -> str:
    if not name.isascii():
        from unicodedata import normalize

        name = normalize("NFKC", name)
    return name.casefold()


def _glob(pattern: "Sequence[str]", given: "Sequence[str]", star: str, fits: "Callable[[str, str], bool]") -> bool:
    """Whether `given` is what `pattern` says, one after the other; `star` in it stands for any number."""
    at = n = again = 0
    last = -1
    while n < len(given):
        if at < len(pattern) and pattern[at] == star:
            last, again = at, n
            at += 1
        elif at < len(pattern) and fits(pattern[at], given[n]):
            at, n = at + 1, n + 1
        elif last >= 0:
            again += 1
            at, n = last + 1, again
        else:
            return False
    return all(one == star for one in pattern[at:])
