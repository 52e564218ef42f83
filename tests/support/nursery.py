"""Runs of memman that start at once: forked from a process that has done the imports, each a process of its own.

    with Nursery(environ) as nursery:
        pid = nursery.start("scheduler", "drain", MEMMAN_FAILPOINT="committed")
        [ended] = nursery.reap(1)
        done = nursery.run("status", environ=environ, cwd="/")

A sweep that kills a thousand drains would else spend its time over imports.
"""

import fcntl
import gc
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from itertools import count
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

import apsw

from tests.support.terminal import NAMES, leave, orphan

_WRITTEN = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
# Seconds after which a run that is waited for is ended.
PATIENCE = 300
# What a drain with any provider loads, and what every verb does.
_PRELOADED = (
    *(
        "memman._entry",
        "memman.commands.root",
        "memman.drain.run",
        "memman.drain.upkeep",
        "memman.http",
        "memman.hot.remember",
    ),
    *("memman.drain.loop", "memman.upkeep.maintenance", "memman.upkeep.screen", "memman.upkeep.backfill"),
    *("memman.drain.worklog", "memman.queue.ledger", "memman.recovery.backup"),
    *(
        "memman.llm.openai",
        "memman.llm.builtin",
        "memman.embed.remote",
        "memman.judge.embedder",
        "memman.providers.meter",
    ),
)
# Packages whose modules a verb imports when it is run.
_WHOLE = (
    "memman.commands",
    "memman.doctor",
    "memman.integrations",
    "memman.recovery",
    "memman.scheduler",
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and when by the monotonic clock; a negative `code` is the signal that killed it."""

    pid: int
    code: int
    at: float


class Nursery:
    """The process that forks the others; a context manager."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self.environ = environ

    def __enter__(self) -> Self:
        """Start it, and wait until its imports are done."""
        command = [sys.executable, "-m", "tests.support.nursery"]
        self._process = subprocess.Popen(
            command, env=dict(self.environ), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._ask("ready")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it; what it started and nobody reaped goes on."""
        self._process.communicate()

    def start(self, *args: str, out: str = os.devnull, gate: str = "", **environ: str) -> int:
        """Run `memman` with `args`, once nobody holds the file `gate` locked, and print to the file `out`.

        Return its process id.
        """
        return int(self._ask("start", args=args, out=out, gate=gate, environ=environ))

    def run(
        self, *args: str, environ: Mapping[str, str], cwd: str | bytes | os.PathLike[str], stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """Run `memman` with `args` in exactly this environment, and wait for its end. Raises TimeoutExpired."""
        with TemporaryDirectory() as place:
            given, out, err = (Path(place, name) for name in ("in", "out", "err"))
            given.write_text(stdin, encoding="utf-8")
            files = {"given": str(given), "out": str(out), "err": str(err)}
            code = self._ask("run", args=args, **files, environ=dict(environ), cwd=os.fsdecode(cwd), umask=_umask())
            if code == -signal.SIGALRM:
                raise subprocess.TimeoutExpired(args, PATIENCE)
            return subprocess.CompletedProcess(args, code, *(path.read_text(encoding="utf-8") for path in (out, err)))

    def attend(
        self,
        place: str,
        theirs: int,
        command: Sequence[str],
        environ: Mapping[str, str],
        cwd: str | os.PathLike[str],
    ) -> None:
        """Begin a run of memman on a terminal of its own, for `attended`."""
        given = {"args": command[1:], "environ": dict(environ), "cwd": os.fspath(cwd), "umask": _umask()}
        self._ask("attend", place=place, terminal=os.ttyname(theirs), **given)

    def reap(self, number: int) -> list[Ended]:
        """Wait until `number` runs have ended."""
        return [Ended(*ended) for ended in self._ask("reap", number=number)]

    def _ask(self, verb: str, **given: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([verb, given]) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _serve() -> None:
    for name in _PRELOADED:
        __import__(name)
    for package in map(import_module, _WHOLE):
        for module in iter_modules(package.__path__, f"{package.__name__}."):
            with suppress(ImportError):  # its run says so
                __import__(module.name)
    _preload()
    for line in sys.stdin:
        verb, given = json.loads(line)
        sys.stdout.write(json.dumps(_VERBS[verb](**given)) + "\n")
        sys.stdout.flush()


def _preload() -> None:
    """Load what every drain reads and none changes, and keep collections of garbage from touching what forks share."""
    from memman.judge import judge

    judge._load(judge.FOLDER)
    gc.collect()
    gc.freeze()


def _start(args: list[str], out: str, gate: str, environ: dict[str, str]) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            code = _run(args, out, gate, environ)
            sys.stdout.flush()
            os._exit(code)
        finally:
            os._exit(70)
    return pid


def _run(args: list[str], out: str, gate: str, environ: dict[str, str]) -> int:
    from memman._entry import main

    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(os.open(out, _WRITTEN, 0o600), 1)
    os.environ.update(environ)
    _doom(int(os.environ.get("KILL_STATEMENT", "0")))
    if gate:
        with open(gate, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
    sys.argv = ["memman", *args]
    return main()


def _doom(left: int) -> None:
    """Have this process killed before its statement of that number, of SQL on any connection; 0 spares it."""
    counted = count(1)

    def struck(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:  # noqa: ARG001 - apsw's shape
        if next(counted) == left:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    if left:
        apsw.connection_hooks.append(lambda db: setattr(db, "exec_trace", struck))


def _umask() -> int:
    os.umask(mask := os.umask(0o077))
    return mask


def _whole_run(args: list[str], given: str, out: str, err: str, environ: dict[str, str], cwd: str, umask: int) -> int:
    """Fork one that goes on as if it had just been started; return its exit code."""
    pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    from memman._entry import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, path, flags in ((0, given, os.O_RDONLY), (1, out, _WRITTEN), (2, err, _WRITTEN)):
        os.dup2(os.open(path, flags, 0o600), number)
    sys.stdin = open(0)  # noqa: SIM115 - open until the process ends
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    os.chdir(cwd)
    os.umask(umask)
    signal.alarm(PATIENCE)
    sys.argv = [f"{os.path.dirname(sys.executable)}/memman", *args]
    code = main()
    for stream in filter(None, (sys.stdout, sys.stderr)):
        stream.flush()
    os._exit(code)


def _attend(place: str, terminal: str, args: list[str], environ: dict[str, str], cwd: str, umask: int) -> bool:
    """Fork one that leaves this process and waits for a run on the terminal."""
    pid = os.fork()
    if pid:
        return os.waitpid(pid, 0)[1] == 0
    try:
        file = os.open(terminal, os.O_RDWR | os.O_NOCTTY)
        for number in range(3):
            os.dup2(file, number)
        os.close(file)
        orphan()
        given, out, err, code = (os.path.join(place, name) for name in NAMES)
        Path(code).write_text(str(_whole_run(args, given, out, err, environ, cwd, umask)), encoding="utf-8")
    finally:
        os._exit(0)


def _reap(number: int) -> list[tuple[int, int, float]]:
    ended = []
    for _ in range(number):
        pid, status = os.wait()
        ended.append((pid, os.waitstatus_to_exitcode(status), time.monotonic()))
    return ended


_VERBS: dict[str, Callable[..., Any]] = {"ready": lambda: True, "start": _start, "run": _whole_run}
_VERBS |= {"attend": _attend, "reap": _reap}


if __name__ == "__main__":
    leave()
    _serve()
