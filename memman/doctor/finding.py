"""What a check is told, and what it answers."""

import os
import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from shutil import which

from memman.config import stores
from memman.config.env import Settings
from memman.config.launcher import program
from memman.config.places import queue_path, store_path
from memman.doctor.layout import amiss
from memman.model.errors import DamagedFile, NewerSchema
from memman.sqlite import COMPANIONS
from memman.store.sqlite.catalogue import Catalogue

# Characters of what is said in one line.
LONGEST = 300
# memman where a command begins, in a line for a shell and in a hint.
_COMMAND = re.compile(r"(?:(?<=^)|(?<=&& )|(?<=\|\| ))memman(?= )")
_QUOTED = re.compile(r"`memman(?= )")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing a check found, in one line.

    `mend` is the shell command that mends it; `hint` is what a person should
    know or do besides, or where no command can.
    """

    status: str
    says: str
    mend: str = ""
    hint: str = ""


def ok(says: str) -> Finding:
    """Return that all is well."""
    return Finding("ok", says)


def skipped(says: str) -> Finding:
    """Return that there was nothing to look at, or no way to."""
    return Finding("skipped", says)


def warn(says: str, mend: str = "", hint: str = "") -> Finding:
    """Return what works, but should be looked at."""
    return Finding("warn", says, mend, hint)


def fail(says: str, mend: str = "", hint: str = "") -> Finding:
    """Return what does not work."""
    return Finding("fail", says, mend, hint)


class Context:
    """What is examined. `billable` allows calls that a provider charges for."""

    def __init__(self, data: str, *, billable: bool = False) -> None:
        self.data, self.billable = data, billable

    @cached_property
    def settings(self) -> Settings:
        """What the env file says, what is wrong in it left out."""
        return Settings.read(self.data) if os.path.isdir(self.data) else Settings({})

    @cached_property
    def stores(self) -> list[str]:
        """The stores that have a database which can be opened."""
        return [name for name in stores.names(self.data) if not self._spoilt(store_path(self.data, name))]

    @cached_property
    def amiss(self) -> dict[str, str]:
        """What in the data folder is not of the kind it must be, by its path."""
        return amiss(self.data)

    def databases(self) -> dict[str, str]:
        """Return the paths of the queue and of every store that can be opened, by what a person calls them."""
        path = queue_path(self.data)
        queue = {"queue": path} if os.path.exists(path) and not self._spoilt(path) else {}
        return queue | {f"store {name!r}": store_path(self.data, name) for name in self.stores}

    def _spoilt(self, path: str) -> bool:
        return any(path + end in self.amiss for end in COMPANIONS)

    def in_stores(self, look: Callable[[str, Catalogue], Iterable[Finding]]) -> Iterator[Finding]:
        """Look into each store; what cannot be opened is left to the checks of schema and integrity."""
        for name in self.stores:
            try:
                with Catalogue.open(store_path(self.data, name)) as catalogue:
                    yield from look(name, catalogue)
            except (DamagedFile, NewerSchema) as error:
                yield skipped(str(error))


def sound(found: Iterable[Finding], says: str) -> Iterator[Finding]:
    """Yield what was found, or that all is well."""
    some = False
    for finding in found:
        some = True
        yield finding
    if not some:
        yield ok(says)


def shell(*words: str) -> str:
    """Write a command for a shell."""
    return shlex.join(words)


def runnable(finding: Finding) -> Finding:
    """Bound what is said to a line; commands name memman by its path where the reader's shell would not find it."""
    finding = replace(finding, says=_line(finding.says), hint=_line(finding.hint))
    path = program()
    named = which("memman")
    if named and os.path.realpath(named) == os.path.realpath(path):
        return finding
    mend = _COMMAND.sub(lambda _: shell(path), finding.mend)
    return replace(finding, mend=mend, hint=_QUOTED.sub(lambda _: f"`{shell(path)}", finding.hint))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def writable(*places: str) -> str:
    """Return the command that lets one write to `places`, '' where none does: a disk is read-only, or another's."""
    for place in places:
        if os.stat(place).st_uid != os.geteuid() or os.statvfs(place).f_flag & os.ST_RDONLY:
            return ""
    return shell("chmod", "u+rwX", *places)


def backup(path: str, hint: str) -> str:
    """Add to a hint the newest copy that an upgrade made of a file before it changed it."""
    folder, name = os.path.split(path)
    copies = sorted(other for other in os.listdir(folder) if other.startswith(name + ".schema-"))
    return f"{hint}; there is an older copy: {folder}/{copies[-1]}" if copies else hint
