"""A repository that is read with git: its newest commits, and its files as they were committed last."""

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from memman.config.repository import Repository
from memman.model.errors import UsageError
from memman.model.vocabulary import RECORD

# Seconds that git may take, bytes of a file that is read.
_LIMIT, _LARGEST = 60, 262_144
# Nothing that the repository's configuration names is started, and nothing is fetched.
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "log.showSignature=false",
    "core.quotePath=false",
    "log.showRoot=true",
)
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_FIELDS = ("%H", "%ct", "%an <%ae>", "%s", "%b", "")
# In a path: control characters, and what is no UTF-8.
_UNSHOWN = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffd]")
# Scopes of git's settings that no repository brings along.
_OURS, _OWN_ROW = ("global", "system"), 3


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit that merges nothing; `at` in Unix milliseconds, `paths` are those it changed."""

    id: str
    at: int
    author: str
    subject: str
    body: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tracked:
    """A tracked file as it was committed last: its text, in which commit, when and by whom."""

    path: str
    text: str
    commit: str
    at: int
    author: str


@dataclass
class Checkout:
    """A work tree, of which the newest `most` commits are read; with `vouched` all its authors are as the user."""

    place: Repository
    most: int
    vouched: bool = False
    _texts: dict[str, Tracked] = field(default_factory=dict)

    @cached_property
    def commits(self) -> list[Commit]:
        """The newest commits, newest first."""
        asked = ("--no-merges", "--no-renames", "--name-only", f"--max-count={self.most}")
        # Only NUL stands in none of the fields.
        said = iter(self._git("log", *asked, f"--format=%x00{'%x00'.join(_FIELDS)}").split("\0")[1:])
        parts = zip(*[said] * len(_FIELDS), strict=True)
        return [
            Commit(one, int(at or 0) * 1000, who, subject, body.strip(), tuple(filter(None, paths.split("\n"))))
            for one, at, who, subject, body, paths in parts
        ]

    @cached_property
    def paths(self) -> list[str]:
        """The paths of its plain tracked files, without those that no terminal shows."""
        rows = (row.partition("\t") for row in self._git("ls-tree", "-r", "-z", "HEAD").split("\0") if row)
        return [path for kind, _, path in rows if kind.startswith("100") and not _UNSHOWN.search(path)]

    def files(self, paths: Sequence[str]) -> list[Tracked]:
        """Return what tracked files say, without those that are too large."""
        if not paths:
            return []
        changed = self._changed(paths)
        found = []
        for path in paths:
            commit, at, author = changed.get(path, ("", 0, ""))
            text = self._git("cat-file", "blob", f"HEAD:{path}", fails=True)
            if commit and len(text) <= _LARGEST:
                found.append(Tracked(path, text, commit, at, author))
        return found

    def channel(self, author: str) -> str:
        """Return how what a commit of an author says arrives: on record where it is the user's, or vouched for."""
        return RECORD if self.vouched or author.endswith(self._own) else "note"

    @cached_property
    def _own(self) -> tuple[str, ...]:
        """How the user's authors end: by their own settings, in a work tree that somebody has committed in.

        A clone brings commits in anybody's name, and an archive settings, but no clone a log of what was done here.
        """
        if not self._git("log", "--walk-reflogs", "--grep-reflog=^commit", "--max-count=1", "--format=%H", fails=True):
            return ()
        said = self._git("config", "--show-scope", "--get-regexp", r"^user\.email$", fails=True)
        rows = (row.replace("\t", " ").split() for row in said.split("\n"))
        return tuple(f"<{row[2]}>" for row in rows if len(row) == _OWN_ROW and row[0] in _OURS)

    def _changed(self, paths: Iterable[str]) -> dict[str, tuple[str, int, str]]:
        """Return which commit changed each path last, when, and by whom."""
        asked = (
            "--format=%x01%H %ct <%ae>",
            "--name-only",
            "-z",
            "--no-renames",
            "--diff-merges=first-parent",
            "--",
            *paths,
        )
        found: dict[str, tuple[str, int, str]] = {}
        commit, at, author = "", "0", ""
        for row in self._git("--literal-pathspecs", "log", *asked).replace("\n", "\0").split("\0"):
            if row.startswith("\x01"):
                commit, at, author = row[1:].split(" ", 2)
            elif row:
                found.setdefault(row, (commit, int(at or 0) * 1000, author))
        return found

    def _git(self, *args: str, fails: bool = False) -> str:
        kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ} | _ENVIRONMENT
        settings = [word for one in _SETTINGS for word in ("-c", one)]
        command = ("git", "--no-pager", "-C", self.place.root, *settings, *args)
        try:
            done = subprocess.run(command, env=kept, capture_output=True, timeout=_LIMIT, check=not fails)  # noqa: S603 - git
        except subprocess.CalledProcessError as error:
            why = error.stderr.decode(errors="replace").strip().partition("\n")[0]
            raise UsageError(f"git could not read {self.place.root} ({why})") from error
        except (OSError, subprocess.SubprocessError) as error:
            raise UsageError(f"git could not be run in {self.place.root} ({error})") from error
        return done.stdout.decode(errors="replace")
