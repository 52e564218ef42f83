"""What a check is told, and what it answers."""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from shutil import which

from memman.config import stores
from memman.config.env import Settings
from memman.config.launcher import program
from memman.config.places import queue_path, store_path

# Characters of what is said in one line.
LONGEST = 300
# memman where a command begins, in a line for a shell and in a hint.
_COMMAND = re.compile(r"(?:(?<=^)|(?<=&& )|(?<=\|\| ))memman(?= )")
_QUOTED = re.compile(r"`memman(?= )")


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found; `mend` is the shell command that mends it, `hint` what a person should know or do besides."""

    status: str
    says: str
    mend: str = ""
    hint: str = ""


# All is well; there was nothing to look at, or no way to; it works, but should be looked at; it does not work.
ok, skipped, warn, fail = (partial(Finding, status) for status in ("ok", "skipped", "warn", "fail"))


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
        """The stores that have a database."""
        return stores.names(self.data)

    @cached_property
    def databases(self) -> dict[str, str]:
        """The paths of the queue and of every store, by what a person calls them."""
        path = queue_path(self.data)
        queue = {"queue": path} if os.path.exists(path) else {}
        return queue | {f"store {name!r}": store_path(self.data, name) for name in self.stores}


def sound(found: Iterable[Finding], says: str) -> Iterator[Finding]:
    """Yield what was found, or that all is well."""
    rest = iter(found)
    yield next(rest, ok(says))
    yield from rest


def shell(*words: str) -> str:
    """Write a command for a shell."""
    return shlex.join(words)


def runnable(finding: Finding) -> Finding:
    """Bound what is said to a line; commands name memman by its path where the reader's shell would not find it."""
    finding = replace(finding, says=_line(finding.says), hint=_line(finding.hint))
    path, named = program(), which("memman")
    if named and os.path.realpath(named) == os.path.realpath(path):
        return finding
    mend = _COMMAND.sub(lambda _: shell(path), finding.mend)
    return replace(finding, mend=mend, hint=_QUOTED.sub(lambda _: f"`{shell(path)}", finding.hint))


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"
