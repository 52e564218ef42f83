"""Changes of a folder kept in its own git repository."""

import os
import subprocess
from collections.abc import Sequence

from memman.model.errors import CannotWrite

# Seconds that git may take.
_LIMIT = 30
_SETTINGS = (
    *("user.name=memman", "user.email=memman@localhost", "gc.auto=0", "maintenance.auto=false"),
    # Nothing that the folder's configuration names is started.
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "core.pager=cat", "commit.gpgSign=false"),
)
_ENVIRONMENT = {"GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}


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
    _run(folder, *_settings(_SETTINGS), *_settings(_no_filters(folder)), *args, said=said)


def _settings(settings: Sequence[str]) -> tuple[str, ...]:
    return tuple(word for setting in settings for word in ("-c", setting))


def _no_filters(folder: str) -> list[str]:
    """Return settings that switch off each filter that the folder's configuration names: `git add` would start them."""
    if not is_repository(folder):
        return []
    listed = _run(folder, "config", "--includes", "--null", "--name-only", "--list")
    filters = {name.rpartition(".")[0] for name in listed.split("\0") if name.startswith("filter.")}
    return [f"{name}.{key}" for name in sorted(filters) for key in ("clean=", "smudge=", "process=", "required=false")]


def _run(folder: str, *args: str, said: str = "") -> str:
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ} | _ENVIRONMENT
    command = ("git", "-C", folder, *args)
    try:
        done = subprocess.run(  # noqa: S603 - git, with arguments of ours
            command, env=kept, input=said, capture_output=True, text=True, timeout=_LIMIT, check=True
        )
    except subprocess.CalledProcessError as error:
        why = (error.stderr or error.stdout).strip().partition("\n")[0]
        raise CannotWrite(f"git could not commit in {folder} ({why})") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise CannotWrite(f"git could not be run in {folder} ({error})") from error
    return done.stdout
