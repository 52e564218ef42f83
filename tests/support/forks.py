"""memman's command line in forks of one process that has everything imported: a run under a fault costs milliseconds.

    with Forks() as forks:
        done = forks.run(("remember", "a note"), data, errors="full", at=3)

Each run is a process of its own on a FaultVFS, and may also be short of memory or of pages. What no command line does
without a person is called by its name.
"""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self, TypeVar

import apsw

from tests.support.vfs import ERRORS, Fault, FaultVFS, Kill

Item = TypeVar("Item")

# Seconds after which a run is killed: none waits for anything.
PATIENCE = 300
# What most runs import, sooner or later.
_BEFOREHAND = (
    *(
        "drain",
        "drain.run",
        "drain.loop",
        "upkeep.maintenance",
        "upkeep.backfill",
        "drain.worklog",
        "judge.embedder",
    ),
    *("providers.meter", "commands.status", "hot.hook", "hot.recall", "hot.remember", "llm.builtin", "queue.ledger"),
    *("store.sqlite.store", "secrets.matcher", "config.env", "recovery.repair"),
)


@dataclass(frozen=True, slots=True)
class Done:
    """What became of a run: its exit code (negative for a signal), what it said, how often faults were met and struck.

    A run that a signal ended counts none.
    """

    code: int
    out: str
    err: str
    seen: int = 0
    struck: int = 0


class Forks:
    """A process that forks a run of memman for each call of `run`; a context manager.

    `before` is a command that it is started by: one that enters a namespace, say.
    """

    def __init__(self, *before: str) -> None:
        command = (*before, sys.executable, "-m", "tests.support.forks")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self.process.communicate()

    def run(
        self,
        args: Sequence[str],
        data: str | os.PathLike[str],
        stdin: str = "",
        *,
        call: str = "",
        errors: str = "io",
        at: int = 0,
        lasting: bool = False,
        heap: int = 0,
        memory: int = 0,
        pages: int = 0,
    ) -> Done:
        """Run one command line on a data folder, and wait for its end.

        `call` names a function by "module:function", which is called with `args` instead.
        The `at`-th operation that `errors` (a key of ERRORS) can befall fails, if `lasting` all later ones too; if that
        is "kill", the process is killed at it.
        SQLite gets `heap` bytes, the process `memory` bytes more than it has, a database `pages` pages; 0 is no limit.
        """
        fault = {"call": call, "errors": errors, "at": at, "lasting": lasting}
        limits = {"heap": heap, "memory": memory, "pages": pages}
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(
            json.dumps({"args": [*args], "data": os.fspath(data), "stdin": stdin} | fault | limits) + "\n"
        )
        self.process.stdin.flush()
        return Done(**json.loads(self.process.stdout.readline()))


class Crew:
    """Several Forks at work at once; a context manager."""

    def __init__(self, size: int) -> None:
        self.idle: SimpleQueue[Forks] = SimpleQueue()
        self.all = [Forks() for _ in range(size)]
        self.pool = ThreadPoolExecutor(size)
        for forks in self.all:
            self.idle.put(forks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: TracebackType | None) -> None:
        self.pool.shutdown(cancel_futures=True)
        for forks in self.all:
            forks.__exit__(kind, error, trace)

    def each(self, work: Callable[[Forks, Item], object], items: Iterable[Item]) -> None:
        """Do `work` for every item; raises what it raised."""

        def hand(item: Item) -> None:
            forks = self.idle.get()
            try:
                work(forks, item)
            finally:
                self.idle.put(forks)

        for done in [self.pool.submit(hand, item) for item in items]:
            done.result()


def main() -> None:
    """Serve one run after the other, as standard input asks for them."""
    vfs = FaultVFS()
    for name in _BEFOREHAND:
        import_module(f"memman.{name}")
    for line in sys.stdin:
        sys.stdout.write(json.dumps(_forked(vfs, json.loads(line))) + "\n")
        sys.stdout.flush()


def _forked(vfs: FaultVFS, job: dict[str, Any]) -> dict[str, Any]:
    with ExitStack() as stack:
        given, out, err, tally = files = [stack.enter_context(open(os.memfd_create("run"), "w+b")) for _ in range(4)]
        given.write(job["stdin"].encode())
        given.seek(0)
        child = os.fork()
        if not child:
            for number, file in enumerate(files[:3]):
                os.dup2(file.fileno(), number)
            sys.stdin = open(0)  # noqa: SIM115 - open until the process ends
            code = _run(vfs, job)
            os.write(tally.fileno(), json.dumps({"seen": vfs.fault.seen, "struck": vfs.fault.struck}).encode())
            os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        for file in files:
            file.seek(0)
        counts: dict[str, Any] = json.loads(tally.read() or "{}")
        said = {"out": out.read().decode(errors="replace"), "err": err.read().decode(errors="replace")}
        return {"code": code} | said | counts


def _run(vfs: FaultVFS, job: dict[str, Any]) -> int:
    """Run memman in this process, a fork, up to its exit code."""
    from memman import _entry

    signal.alarm(PATIENCE)
    os.environ["MEMMAN_DATA_DIR"] = job["data"]
    sys.argv = ["memman", *job["args"]]
    if pages := job["pages"]:
        apsw.connection_hooks.append(lambda db: db.pragma("max_page_count", pages))
    if job["heap"]:
        apsw.hard_heap_limit(apsw.memory_used() + job["heap"])
    if job["memory"]:
        has = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()  # noqa: SIM115 - the same
        resource.setrlimit(resource.RLIMIT_AS, (has + job["memory"],) * 2)
    if job["errors"] == "kill":
        vfs.fault = Kill(at=job["at"])
        sys.addaudithook(lambda event, _: vfs.fault.meet(event))
    else:
        vfs.fault = Fault(ERRORS[job["errors"]], job["at"], job["lasting"])
    vfs.patient = bool(job["call"])
    code = _called(job["call"], job["args"]) if job["call"] else _entry.main()
    sys.stdout.flush()
    return code


def _called(name: str, args: Sequence[str]) -> int:
    """Call a function; return the exit code of a verb that does so."""
    from memman import _entry

    module, _, function = name.partition(":")
    try:
        getattr(import_module(module), function)(*args)
    except Exception as error:  # noqa: BLE001 - as the entry point does
        return _entry._report(error)
    return 0


if __name__ == "__main__":
    main()
