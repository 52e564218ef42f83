"""What systemd and launchd have in common: their commands, and the files that they read."""

import os
import subprocess
from collections.abc import Mapping
from typing import NamedTuple

import memman
from memman.config.places import open_file, write_file
from memman.model.errors import BadConfig, CannotWrite, NoScheduler

_PATIENCE = 5.0  # seconds; a service manager that takes longer does not answer
_MISSING = 127
# Units hold no secret, and systemd complains of those that not everybody can read.
_MODE = 0o644


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


def shipped(name: str) -> bytes:
    """Return a shipped file: packed in the wheel, or beside the package in a checkout."""
    package = os.path.dirname(os.path.abspath(memman.__file__))
    for place in (f"{package}/share/{name}", f"{os.path.dirname(package)}/{name}"):
        if os.path.isfile(place):
            with open(place, "rb") as source:
                return source.read()
    raise BadConfig(f"this installation lacks {name}: reinstall memman")


def filled(text: str, values: Mapping[str, str]) -> str:
    """Put values in the place of their names."""
    for name, value in values.items():
        text = text.replace(name, value)
    return text


def lay(folder: str, texts: Mapping[str, str]) -> None:
    """Write those of `texts` that are not there as they should be. Raises CannotWrite."""
    changed = [name for name, text in texts.items() if held(f"{folder}/{name}") != text]
    if masked := [name for name in changed if os.path.realpath(f"{folder}/{name}") == os.devnull]:
        raise CannotWrite(f"{folder}/{masked[0]} is masked: run systemctl --user unmask {masked[0]}")
    for name in changed:
        write_file(f"{folder}/{name}", texts[name], _MODE)


def held(path: str) -> str | None:
    """Return what a file holds, None where there is none."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="", opener=open_file) as source:
            return source.read()
    except OSError:
        return None


def take(path: str) -> None:
    """Remove a file, if it is there."""
    try:
        os.unlink(path)
    except OSError:
        return
