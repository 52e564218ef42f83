"""A person at a terminal: a command in a session and on a pseudo-terminal of its own, below no process of the test.

    done = attended([memman, "purge", uid], environ, cwd)
    done.asked, done.returncode, done.stdout

What started the test may be an agent, and a person's verb would be refused below it.
"""

import fcntl
import os
import re
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

PATIENCE = 60.0  # seconds
QUESTION = re.compile(r" (?:Type (\S+) to go on: |\[y/N\] )")
# Takes the terminal on standard input as its own, and becomes a command.
_TAKEN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
NAMES = ("in", "out", "err", "code")


@dataclass(frozen=True)
class Attended:
    """How a command ended, and what it wrote to its terminal, the echo of the answers with it."""

    args: Sequence[str]
    returncode: int
    stdout: str
    stderr: str
    asked: str


def obliging(question: str) -> str:
    """Answer what a question of memman's wants to hear, or no; '' where it has not been asked to its end."""
    if question.endswith(" yes, no? "):
        return "no\n"
    found = [*QUESTION.finditer(question)]
    return f"{found[-1][1] or 'y'}\n" if found and found[-1].end() == len(question) else ""


def attended(
    command: Sequence[str],
    environ: Mapping[str, str],
    cwd: str | os.PathLike[str],
    answer: Callable[[str], str] = obliging,
    stdin: str = "",
    begin: Callable[[str, int, Sequence[str], Mapping[str, str], str | os.PathLike[str]], object] | None = None,
) -> Attended:
    """Run `command` to its end with a terminal at which `answer`, given all that was written, types; '' types nothing.

    Its standard streams are files; `begin` starts it, where not as a new program. Raises TimeoutExpired.
    """
    with TemporaryDirectory() as place:
        given, out, err, code = (Path(place, name) for name in NAMES)
        given.write_text(stdin, encoding="utf-8")
        ours, theirs = os.openpty()
        try:
            (begin or _begin)(place, theirs, command, environ, cwd)
            os.close(theirs)
            asked = _talk(ours, command, answer)
        finally:
            os.close(ours)
        return Attended(command, int(code.read_text()), out.read_text("utf-8"), err.read_text("utf-8"), asked)


def typed(
    command: Sequence[str], environ: Mapping[str, str], cwd: str | os.PathLike[str], line: str
) -> tuple[int, str]:
    """Run `command` with its standard streams on a terminal, and type a line once it asks; return how it ended.

    With that comes all that was to be seen. What is typed before anything is asked would be seen, too.
    """
    ours, theirs = os.openpty()
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    start = [sys.executable, "-c", _TAKEN, *command]
    process = subprocess.Popen(start, env=dict(environ), cwd=cwd, start_new_session=True, **streams)  # type: ignore[call-overload]
    os.close(theirs)
    try:
        seen = _talk(ours, command, lambda said: f"{line}\n" if said.endswith((": ", "[y/N] ")) else "")
    finally:
        os.close(ours)
    return int(process.wait()), seen


def _begin(
    place: str, theirs: int, command: Sequence[str], environ: Mapping[str, str], cwd: str | os.PathLike[str]
) -> None:
    start = [sys.executable, "-m", "tests.support.terminal", place, *command]
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
    subprocess.run(start, env=dict(environ), cwd=cwd, check=True, **streams)  # type: ignore[call-overload]


def _talk(ours: int, command: Sequence[str], answer: Callable[[str], str]) -> str:
    """Type until nobody holds the other end any more; return all that was written there."""
    said, until = "", time.monotonic() + PATIENCE
    while select.select([ours], [], [], max(0, until - time.monotonic()))[0]:
        try:
            said += os.read(ours, 4096).decode()
        except OSError:  # how Linux says that the other end is closed
            return said
        os.write(ours, answer(said).encode())
    raise subprocess.TimeoutExpired(list(command), PATIENCE)


def leave() -> None:
    """Leave the process that started this one: it may be an agent, or below one."""
    parent = os.getpid()
    if os.fork():
        os._exit(0)
    while os.getppid() == parent:
        time.sleep(0.001)


def orphan() -> None:
    """Leave the process that started this one, and take the terminal on standard input as this session's own."""
    leave()
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is for the command, which has its default again


def _main(place: str, *command: str) -> None:
    orphan()
    given, out, err, code = (Path(place, name) for name in NAMES)
    with given.open("rb") as stdin, out.open("wb") as stdout, err.open("wb") as stderr:
        done = subprocess.run(command, stdin=stdin, stdout=stdout, stderr=stderr, check=False)
    code.write_text(str(done.returncode))


if __name__ == "__main__":
    _main(*sys.argv[1:])
