"""What only git knows of a repository."""

import os
import subprocess

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.config.repository import Repository

# Seconds that git may take: it walks the whole history, and a hook has one for all it does.
_LIMIT = 0.4


def first_commit(repository: "Repository") -> str:
    """Return the oldest commit without a parent that the work tree's history has, '' where git does not tell."""
    kept = {name: os.environ[name] for name in ("HOME", "PATH") if name in os.environ}
    command = ("git", "--git-dir", repository.git, "rev-list", "--max-parents=0", "HEAD")
    try:
        asked = subprocess.run(  # noqa: S603 - git, with arguments of ours
            command, env=kept, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LIMIT, check=True
        )
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return ""
    return asked.stdout.split()[-1] if asked.stdout.strip() else ""
