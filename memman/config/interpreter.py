"""The interpreter that starts the hot verbs without what `site` does each time, and where it finds memman then."""

import subprocess
import sys
from typing import NamedTuple

import memman

_PATIENCE = 10.0  # seconds for an interpreter to answer
_PATHS = "import sys; print(*sys.path, sep='\\n')"
# Told the usual folders, says which of them it lacks, and where it finds memman with them.
_LACKS = """\
import sys
lacks = [folder for folder in sys.argv[1:] if folder not in sys.path]
sys.path += lacks
import apsw, click, memman
print(memman.__file__, *lacks, sep="\\n")
"""


class Interpreter(NamedTuple):
    """An interpreter, and its version and the folders it is to look into besides its own, parted by colons."""

    python: str = ""
    library: str = ""


NONE = Interpreter()


def quick() -> Interpreter:
    """Return how our interpreter starts memman without `site` and without PYTHONPATH; none where it cannot."""
    usual = _said("-E", "-P", "-c", _PATHS)
    found, *lacks = _said("-I", "-S", "-c", _LACKS, *usual) or [""]
    parts = ["{}.{}".format(*sys.version_info), *lacks]
    if found != memman.__file__ or any(":" in part for part in parts):
        return NONE
    return Interpreter(sys.executable, ":".join(parts))


def _said(*args: str) -> list[str]:
    """Return the lines that this interpreter prints, none where it fails."""
    try:
        done = subprocess.run(  # noqa: S603 - our own interpreter
            [sys.executable, *args],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return []
    return [] if done.returncode else done.stdout.splitlines()
