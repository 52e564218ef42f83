"""`scheduler serve` as the first process of a container: quick to wake, quick to end, no zombies."""

import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from tests.support.terminal import attended

PATIENCE = 300.0
# A machine with other work takes its time: the short form prints what it saw, the long one holds it to the figures.
QUIET = bool(os.environ.get("MEMMAN_LONG"))
# Figures of the acceptance: seconds until a note is drained and until it ends, and how many notes leave no zombie.
DRAINED, ENDED, NOTES = 1.0, 2.0, 500 if QUIET else 100
CONTAINER = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


class Container:
    """A process namespace whose first process is the serve loop."""

    def __init__(self, user: dict[str, str], *words: str) -> None:
        self.user = user
        self.outer = subprocess.Popen((*CONTAINER, "memman", "scheduler", "serve", *words), env=user)
        self.first = 0
        until("the loop runs", lambda: bool(self._find()))

    def _find(self) -> int:
        for pid in children(self.outer.pid):
            if b"serve" in Path(f"/proc/{pid}/cmdline").read_bytes() and self.status()["kind"] == "serve":
                self.first = pid
        return self.first

    def memman(self, *words: str) -> str:
        """Run memman over the same data folder."""
        return subprocess.run(("memman", *words), env=self.user, check=True, capture_output=True, text=True).stdout

    def status(self) -> dict:
        """Return what `scheduler status` says."""
        return json.loads(self.memman("scheduler", "status", "--json"))

    def waiting(self) -> int:
        """Count the notes not drained yet."""
        states = self.status()["queue"]["states"]
        return states["pending"] + states["running"] + states["parked"]

    def done(self) -> int:
        """Count the notes that were drained; quicker than asking memman."""
        db = apsw.Connection(f"{self.user['HOME']}/.memman/queue.db", apsw.SQLITE_OPEN_READONLY)
        db.set_busy_timeout(10_000)
        try:
            return next(db.execute("SELECT count(*) FROM note WHERE state = 'done'"))[0]
        finally:
            db.close()

    def beat(self) -> float:
        """Return when a drain last got on or ended."""
        return Path(self.user["HOME"], ".memman/heartbeat").stat().st_mtime

    def memory(self) -> int:
        """Return the loop's resident memory in KiB."""
        lines = Path(f"/proc/{self.first}/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])

    def end(self) -> float:
        """Send SIGTERM and return the seconds until all is over."""
        began = time.monotonic()
        os.kill(self.first, signal.SIGTERM)
        assert self.outer.wait(PATIENCE) == 0
        return time.monotonic() - began


def children(pid: int) -> list[int]:
    """Return the processes that `pid` started and has not taken leave of."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def until(what: str, holds: Callable[[], object], seconds: float = PATIENCE) -> float:
    """Wait until something holds; return the seconds it took."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() < began + seconds, f"in vain waited until {what}"
        time.sleep(0.01)
    return time.monotonic() - began


@pytest.fixture(name="container")
def _container(user: dict[str, str]) -> Iterator[Container]:
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("a process namespace needs root and unshare")
    container = Container(user)
    yield container
    container.outer.kill()
    container.outer.wait()


def test_it_drains_soon_and_ends_in_time(container: Container) -> None:
    """A note is drained within a second; SIGTERM ends the loop within two, also amid a drain."""
    until("the first drain is over", lambda: container.status()["last_run"])
    took = []
    for number in range(5):
        container.memman("remember", f"The heron keeps eggs in box {number}.")
        took.append(until("the note is drained", lambda number=number: container.done() > number))
    print(f"5 notes, drained after {sorted(took)[2]:.2f} s, {max(took):.2f} s at most")
    assert sorted(took)[2] <= DRAINED or not QUIET
    container.memman("remember", "One more for the road.")
    took = container.end()
    print(f"ended after {took:.2f} s")
    assert took <= ENDED or not QUIET


def test_it_ends_in_time_while_a_provider_hangs(container: Container) -> None:
    """Amid a call that nobody answers, SIGTERM ends all of it in time, and the note is still there."""
    # What another test left is drained by the settings of then, and so is what comes while it is.
    until("the first drain is over", lambda: container.status()["last_run"] and not children(container.first))
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        command = ("memman", "config", "set", "llm_endpoint", f"http://127.0.0.1:{deaf.getsockname()[1]}")
        assert attended(command, container.user, "/").returncode == 0
        container.memman("remember", "The lock is shut on Mondays.")
        deaf.settimeout(PATIENCE)
        with deaf.accept()[0]:
            took = container.end()
    container.memman("config", "unset", "llm_endpoint")
    print(f"ended after {took:.2f} s amid a call")
    assert took <= ENDED or not QUIET
    assert container.waiting()
    container.memman("scheduler", "drain")
    assert container.waiting() == 0


def test_it_leaves_no_zombie_and_stays_small(container: Container) -> None:
    """Over many notes, and with processes that others left behind, nothing waits to be reaped and memory stays flat."""
    until("the first drain is over", lambda: container.status()["last_run"])
    before = container.memory()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: container.memman("remember", f"Sensor {n} reports {n * 7}."), range(NOTES)))
        orphan = ("nsenter", "-t", str(container.first), "--pid", "sh", "-c", "sleep 0.3 & sleep 0.1 &")
        subprocess.run(orphan, check=True)
    until("all is drained", lambda: container.waiting() == 0)
    until("nobody is left", lambda: not children(container.first))
    grown = container.memory() - before
    print(f"{NOTES} notes; the loop holds {before} KiB and {grown} KiB more at the end")
    assert grown < 1024
    assert container.end() <= ENDED


def test_it_sleeps_while_stopped(container: Container) -> None:
    """Stopped, no drain is started; started again, it takes up its work."""
    container.memman("scheduler", "stop")
    assert container.status()["state"] == "stopped"
    refused = subprocess.run(("memman", "remember", "x"), env=container.user, check=False, capture_output=True)
    assert refused.returncode == 69
    ended = container.status()["last_run"]
    container.memman("scheduler", "start")
    container.memman("remember", "The weir was painted green.")
    until("the note is drained", lambda: container.waiting() == 0)
    assert container.status()["last_run"] > (ended or 0)
    second = subprocess.run(("memman", "scheduler", "serve"), env=container.user, check=False, capture_output=True)
    assert second.returncode == 75


def heeds(pid: int) -> bool:
    """Whether a process handles SIGTERM; before it does, the first of its namespace never hears one."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    caught = next(line for line in lines if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


@pytest.mark.parametrize("after", [0.0, 0.15, 0.45])
def test_it_ends_when_told_while_it_starts(user: dict[str, str], after: float) -> None:
    """SIGTERM as soon as Python runs, and on the way to the loop, ends it too."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("a process namespace needs root and unshare")
    outer = subprocess.Popen((*CONTAINER, "memman", "scheduler", "serve"), env=user)
    try:
        until("the first process is there", lambda: children(outer.pid))
        (first,) = children(outer.pid)
        heard = until("it handles the signal", lambda: heeds(first))
        time.sleep(after)
        began = time.monotonic()
        os.kill(first, signal.SIGTERM)
        assert outer.wait(PATIENCE) == 0
        took = time.monotonic() - began
    finally:
        outer.kill()
        outer.wait()
    print(f"heeds after {heard:.2f} s; told {after} s later it ended after {took:.2f} s")
    assert took <= ENDED or not QUIET


def test_a_stuck_bell_is_heard_once_a_second(container: Container) -> None:
    """A bell that cannot be silenced makes the loop start a drain a second, not one after the other."""
    bell = Path(container.user["HOME"], ".memman/doorbell")
    until("the first drain is over", lambda: container.status()["last_run"])
    container.memman("remember", "The lock is shut on Mondays.")
    until("the note is drained", lambda: container.waiting() == 0)
    bell.mkdir()
    (bell / "in").touch()
    beats = {container.beat()}
    took = until("two drains are over", lambda: beats.add(container.beat()) or len(beats) > 2)
    took += until("two more", lambda: beats.add(container.beat()) or len(beats) > 4)
    print(f"{len(beats) - 1} drains in {took:.1f} s")
    assert len(beats) - 1 <= took + 2
    shutil.rmtree(bell)
    container.memman("remember", "The weir was painted green.")
    until("the note is drained", lambda: container.waiting() == 0)


def test_it_serves_a_folder_that_was_made_anew(container: Container) -> None:
    """Where the data folder is removed, the loop goes on in the new one, and holds its lock."""
    data = Path(container.user["HOME"], ".memman")
    until("the first drain is over", lambda: container.status()["last_run"])
    data.rename(data.with_name("old"))
    container.memman("remember", "The weir was painted green.")
    until("the note is drained", lambda: container.waiting() == 0)
    second = subprocess.run(("memman", "scheduler", "serve"), env=container.user, check=False, capture_output=True)
    assert second.returncode == 75
    assert container.end() <= ENDED
