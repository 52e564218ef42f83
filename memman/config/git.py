"""Runs git, with nothing that a repository's configuration names: its commits, and the files that it tracks."""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memman.config.repository import Repository

# Commits that are followed back towards the first one at a time, and seconds that git may take.
_MOST_COMMITS, _PATIENCE = 10_000, 5.0
# Bytes of the largest file that is looked at.
_LARGEST = 4_194_304
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


def git(root: str, *args: str, patience: float = _PATIENCE) -> bytes:
    """Return what git prints in a work tree. Raises OSError and SubprocessError."""
    import subprocess

    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ} | _ENVIRONMENT
    settings = [word for one in _SETTINGS for word in ("-c", one)]
    command = ("git", "--no-pager", "-C", root, *settings, *args)
    return subprocess.run(command, env=kept, capture_output=True, timeout=patience, check=True).stdout  # noqa: S603 - git


def first_commit(repository: "Repository", reached: str = "") -> tuple[str, bool]:
    """Return the oldest commit on the line of first parents from the one checked out, and True.

    Where there are too many that is the commit `reached`, to go on from next time, and False.
    """
    start = reached or repository.commit
    told = _lines(repository, "rev-list", "--first-parent", f"--max-count={_MOST_COMMITS + 1}", start, "--")
    return (told[-1], len(told) <= _MOST_COMMITS) if told else ("", False)


def tracked(repository: "Repository", names: "Sequence[str]", below: str = ".") -> dict[str, str]:
    """Return the path, from the root, of the tracked file that each of `names` means, of those that mean one.

    A name is a path from the folder `below`, or from the root, or the last part of one path alone.
    """
    paths = dict.fromkeys(_lines(repository, "ls-files"))
    found = {}
    for name in names:
        near = os.path.normpath(f"{below}/{name}")
        ends = [path for path in paths if path.endswith("/" + name)]
        path = next((path for path in (near, name) if path in paths), ends[0] if len(ends) == 1 else "")
        if path:
            found[name] = path
    return found


def blob(path: str) -> str:
    """Return the id that git gives to what a file holds, '' where it is none, is not there or is too large."""
    import hashlib

    from memman.config.places import open_file

    try:
        with open(path, "rb", opener=open_file) as file:
            content = file.read(_LARGEST + 1)
    except (OSError, ValueError):
        return ""
    said = b"blob %d\0%b" % (len(content), content)
    return hashlib.sha1(said, usedforsecurity=False).hexdigest() if len(content) <= _LARGEST else ""


def _lines(repository: "Repository", *args: str) -> list[str]:
    """Return the lines that git prints of a repository, none where it fails."""
    from subprocess import SubprocessError

    if not os.path.isdir(repository.git):
        return []
    try:
        said = git(repository.root, "--no-replace-objects", f"--git-dir={repository.git}", "--work-tree=.", *args)
    except (OSError, ValueError, SubprocessError):
        return []
    return [line for line in said.decode(errors="replace").split("\n") if line]
