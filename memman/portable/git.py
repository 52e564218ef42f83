"""Changes of a folder kept in its own git repository."""

import os
import subprocess
from collections.abc import Sequence

from memman.model.errors import CannotWrite

# Seconds that git may take.
_LIMIT = 30
_QUIETLY = (
    *("-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false"),
    *("-c", "user.name=memman", "-c", "user.email=memman@localhost", "-c", "gc.auto=0"),
)


def is_repository(folder: str) -> bool:
    """Whether a folder is a work tree of its own: one that only lies in another's is not ours to commit in."""
    return os.path.exists(f"{folder}/.git")


def begin(folder: str) -> None:
    """Make a folder a repository, unless it is one. Raises CannotWrite."""
    if not is_repository(folder):
        _git(folder, "init", "--quiet")


def commit(folder: str, paths: Sequence[str], message: str) -> None:
    """Commit what has become of some files of a folder, and nothing else. Raises CannotWrite."""
    if not paths:
        return
    listed = "\0".join(os.path.relpath(path, folder) for path in paths)
    named = ("--pathspec-from-file=-", "--pathspec-file-nul")
    _git(folder, "--literal-pathspecs", "add", "--all", *named, said=listed)
    _git(folder, "--literal-pathspecs", "commit", "--quiet", "--no-verify", "-m", message, *named, said=listed)


def _git(folder: str, *args: str, said: str = "") -> None:
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ} | {"GIT_TERMINAL_PROMPT": "0"}
    command = ("git", "-C", folder, *_QUIETLY, *args)
    try:
        subprocess.run(  # noqa: S603 - git, with arguments of ours
            command, env=kept, input=said, capture_output=True, text=True, timeout=_LIMIT, check=True
        )
    except subprocess.CalledProcessError as error:
        why = (error.stderr or error.stdout).strip().partition("\n")[0]
        raise CannotWrite(f"git could not commit in {folder} ({why})") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotWrite(f"git could not be run in {folder} ({error})") from error
