"""What only git knows of a repository."""

import hashlib
import os
import stat
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memman.config.repository import Repository

# Seconds that git may take: it walks the whole history, and a hook has one for all it does.
_LIMIT = 0.4
# Bytes of the largest file that is looked at.
_LARGEST = 4_194_304


def tracked(repository: "Repository", names: "Sequence[str]", below: str = ".") -> dict[str, str]:
    """Return the path, from the root, of the tracked file that each of `names` means, of those that mean one.

    A name is a path from the folder `below`, or from the root, or the last part of one path alone. Nothing is returned
    where git does not tell in time.
    """
    asked = {name: os.path.normpath(f"{below}/{name}") for name in names}
    exact = [f":(top,literal){path}" for name in names for path in (name, asked[name]) if not path.startswith("..")]
    specs = [*exact, *(f":(top,glob)**/{name}" for name in names)]
    place = ("--git-dir", repository.git, "--work-tree", repository.root)
    # No hook of the repository is run for it.
    said = _asked("-c", "core.fsmonitor=false", *place, "ls-files", "-z", "--", *specs)
    paths = said.split("\0")[:-1]
    found = {}
    for name, near in asked.items():
        ends = [path for path in paths if path.endswith("/" + name)]
        path = next((path for path in (near, name) if path in paths), ends[0] if len(ends) == 1 else "")
        if path:
            found[name] = path
    return found


def blob(path: str) -> str:
    """Return the id that git gives to what a file holds, '' where it is none, is not there or is too large."""
    try:
        # Without O_NONBLOCK a named pipe would be waited for.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except (OSError, ValueError):
        return ""
    with open(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST:
            return ""
        try:
            held = file.read(_LARGEST)
        except OSError:
            return ""
    return hashlib.sha1(b"blob %d\0%b" % (len(held), held), usedforsecurity=False).hexdigest()


def first_commit(repository: "Repository") -> str:
    """Return the oldest commit without a parent that the work tree's history has, '' where git does not tell."""
    said = _asked("--git-dir", repository.git, "rev-list", "--max-parents=0", "HEAD")
    return said.split()[-1] if said.strip() else ""


def _asked(*args: str) -> str:
    """Return what git prints, '' where it fails or takes too long."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    command = ("git", *args)
    try:
        asked = subprocess.run(  # noqa: S603 - git, with arguments of ours
            command, env=kept, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LIMIT, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return asked.stdout
