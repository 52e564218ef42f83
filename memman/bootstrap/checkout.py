"""A repository that is read with git: its newest commits, and its files as they were committed last."""

import os
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from memman.config.repository import Repository
from memman.model.errors import UsageError

# Seconds that git may take, bytes of a file that is read.
_LIMIT, _LARGEST = 60, 262_144
# Nothing that the repository's configuration names is started, and nothing is fetched.
_SETTINGS = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false", "core.quotePath=false")
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "LC_ALL": "C",
}
_FIELDS = ("%H", "%ct", "%an <%ae>", "%s", "%b", "")


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
    """A tracked file as it was committed last: its text, in which commit and when."""

    path: str
    text: str
    commit: str
    at: int


@dataclass
class Checkout:
    """A work tree, of which the newest `most` commits are read."""

    place: Repository
    most: int
    _texts: dict[str, Tracked] = field(default_factory=dict)

    @cached_property
    def commits(self) -> list[Commit]:
        """The newest commits, newest first."""
        asked = ("--no-merges", "--no-renames", "--name-only", f"--max-count={self.most}")
        said = self._git("log", *asked, f"--format=%x01{'%x00'.join(_FIELDS)}")
        parts = (row.split("\0") for row in said.split("\x01") if row.count("\0") == len(_FIELDS) - 1)
        return [
            Commit(one, int(at) * 1000, who, subject, body.strip(), tuple(filter(None, paths.split("\n"))))
            for one, at, who, subject, body, paths in parts
        ]

    @cached_property
    def paths(self) -> list[str]:
        """The paths of its plain tracked files."""
        rows = (row.partition("\t") for row in self._git("ls-tree", "-r", "-z", "HEAD").split("\0") if row)
        return [path for kind, _, path in rows if kind.startswith("100")]

    def files(self, paths: Sequence[str]) -> list[Tracked]:
        """Return what tracked files say, without those that are too large."""
        if not paths:
            return []
        changed = self._changed(paths)
        found = []
        for path in paths:
            commit, at = changed.get(path, ("", 0))
            text = self._git("cat-file", "blob", f"HEAD:{path}")
            if commit and len(text) <= _LARGEST:
                found.append(Tracked(path, text, commit, at))
        return found

    def _changed(self, paths: Iterable[str]) -> dict[str, tuple[str, int]]:
        """Return which commit changed each path last, and when."""
        asked = ("--format=%x01%H %ct", "--name-only", "-z", "--no-renames", "--diff-merges=first-parent", "--", *paths)
        found: dict[str, tuple[str, int]] = {}
        for row in self._git("--literal-pathspecs", "log", *asked).split("\x01")[1:]:
            head, *names = row.replace("\n", "\0").split("\0")
            commit, _, at = head.partition(" ")
            for name in filter(None, names):
                found.setdefault(name, (commit, int(at) * 1000))
        return found

    def _git(self, *args: str) -> str:
        kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ} | _ENVIRONMENT
        settings = [word for one in _SETTINGS for word in ("-c", one)]
        command = ("git", "--no-pager", "-C", self.place.root, *settings, *args)
        try:
            done = subprocess.run(command, env=kept, capture_output=True, timeout=_LIMIT, check=True)  # noqa: S603 - git
        except subprocess.CalledProcessError as error:
            why = error.stderr.decode(errors="replace").strip().partition("\n")[0]
            raise UsageError(f"git could not read {self.place.root} ({why})") from error
        except (OSError, subprocess.SubprocessError) as error:
            raise UsageError(f"git could not be run in {self.place.root} ({error})") from error
        return done.stdout.decode(errors="replace")
