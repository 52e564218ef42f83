"""The system's own commands: they answer or they do not, and neither is a traceback."""

import os
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

from memman.model.errors import NoScheduler

_PATIENCE = 5.0  # seconds; a service manager that takes longer does not answer
_MISSING = 127


class Answer(NamedTuple):
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def ask(*command: str, environ: Mapping[str, str] | None = None, patience: float = _PATIENCE) -> Answer:
    """Run a command and return its answer, code 127 where it is missing. Raises NoScheduler where it takes too long."""
    try:
        done = subprocess.run(  # noqa: S603 - the programs are constants, the arguments no shell's
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=patience,
            check=False,
            env={**os.environ, "LC_ALL": "C", **(environ or {})},
        )
    except subprocess.TimeoutExpired:
        raise NoScheduler(f"`{' '.join(command[:3])}` does not answer") from None
    except OSError as error:
        return Answer(_MISSING, "", str(error))
    return Answer(done.returncode, done.stdout, done.stderr)


def obeyed(answer: Answer, order: str) -> str:
    """Return what a command printed. Raises NoScheduler where it failed."""
    if answer.code:
        said = (answer.err or answer.out).strip().splitlines()
        raise NoScheduler(f"`{order}` failed: {said[0] if said else f'exit code {answer.code}'}")
    return answer.out
