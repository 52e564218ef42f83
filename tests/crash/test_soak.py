"""Mixed load for a long time: memory, descriptors, logs and disk stay as they were.

`scheduler serve` starts the drains; agents' programs remember, recall, forget, replace, back up and run hooks. Each
phase of load ends when the queue is empty, and is then measured.
"""

import itertools
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from memman.config.lockfile import held
from tests.support.box import PATIENCE, wait_until
from tests.support.providers import ScriptedProvider

MIB = 2**20
# Sessions that agents of the load go through; a session's file is kept for a week.
SESSIONS = 12
AGENTS = 3


@dataclass(frozen=True)
class Measured:
    """What stood at the end of a phase: of the loop its KiB and descriptors, and the data folder's bytes by part."""

    rss: int
    descriptors: int
    logs: int
    journal: int
    databases: int
    memories: int
    notes: int
    beside: int
    drain: int


class Soak:
    """A loop that serves, and what its load did."""

    def __init__(self, box):
        self.box, self.numbers = box, itertools.count()
        self.loop = box.start(box.script, "scheduler", "serve", "--interval", "10")
        self.largest_log = self.drain_kib = self.calls = 0
        self.uids = []

    def program(self, *words, **popen):
        """Run memman, which must do its work without a word of complaint."""
        done = self.box.memman(*words, **popen)
        assert (done.returncode, done.stderr) == (0, ""), (words, done.stderr)
        self.calls += 1
        return done.stdout

    def act(self):
        """Do what an agent does in a turn, and now and then what a person does."""
        number = next(self.numbers)
        session = {"session_id": f"soak-{number // 2 % SESSIONS}", "cwd": str(self.box.data.parent)}
        uid = self.program("remember", f"Service {number} of team {number % 7} listens on port {number}.").strip()
        self.program("recall", f"which port does service {number} listen on")
        if number % 2:
            said = session | {"prompt": f"No, we decided that host {number} runs in Frankfurt from now on."}
            self.program("hook", "user-prompt", "--host", "codex", input=json.dumps(said))
            done = session | {"last_assistant_message": f"Understood, host {number} runs in Frankfurt."}
            self.program("hook", "stop", "--host", "codex", input=json.dumps(done))
        if number % 5 == 4:
            self.program("forget", uid)
        if number % 5 == 3:
            self.program("replace", uid, f"Service {number} of team {number % 7} listens on port {number + 1} now.")
        if number % 11 == 10:
            self.program("status")
        if number % 20 == 19:
            backup = self.program("backup", "create", f"soak{number}").split()[0]
            assert self.box.person("backup", "remove", backup).returncode == 0

    def phase(self, seconds):
        """Let agents work for so long, then the loop until nothing waits; measure."""
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(AGENTS + 1) as pool:
            agents = [pool.submit(self._work, until) for _ in range(AGENTS)]
            watcher = pool.submit(self._watch, until)
            for worker in (*agents, watcher):
                worker.result()
        # What goes on is not drained yet: a model reads a conversation as a whole.
        for number in range(SESSIONS):
            ended = {"session_id": f"soak-{number}", "cwd": str(self.box.data.parent)}
            self.program("hook", "session-end", "--host", "codex", input=json.dumps(ended))
        wait_until(self._idle, 120)
        return self._measured()

    def _work(self, until):
        while time.monotonic() < until:
            self.act()

    def _watch(self, until):
        self.drain_kib = 0
        while time.monotonic() < until:
            self.largest_log = max(self.largest_log, self._logs())
            self.drain_kib = max(self.drain_kib, *(kib(pid, "VmHWM") for pid in self._children()), 0)
            time.sleep(0.02)

    def _children(self):
        return Path(f"/proc/{self.loop.pid}/task/{self.loop.pid}/children").read_text().split()

    def _idle(self):
        return self.box.states().keys() <= {"done"} and not held(f"{self.box.data}/drain.lock")

    def _logs(self):
        paths = (self.box.queue_path, self.box.store_path())
        return max(size(path.with_name(path.name + "-wal")) for path in paths)

    def _measured(self):
        data = self.box.data
        databases = size(self.box.queue_path) + size(self.box.store_path())
        kept = [path for path in data.rglob("*") if path.is_file() and path.suffix not in {".db", ".db-wal", ".db-shm"}]
        return Measured(
            kib(self.loop.pid, "VmRSS"),
            len(os.listdir(f"/proc/{self.loop.pid}/fd")),
            self._logs(),
            self.box.queue("SELECT count(*) FROM journal")[0],
            databases,
            self.box.store("SELECT count(*) FROM memory")[0],
            self.box.queue("SELECT count(*) FROM note")[0],
            sum(map(size, kept)),
            self.drain_kib,
        )


def kib(pid, name):
    """Return a process's memory as the kernel counts it, 0 for one that has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), 0)


def size(path):
    """Return a file's bytes, 0 for one that is not there."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def growth(phases):
    """Return how many bytes of databases each memory cost between the first and the last of `phases`."""
    first, last = phases[0], phases[-1]
    return (last.databases - first.databases) / (last.memories - first.memories)


@pytest.fixture(name="soak")
def _soak(box):
    """Serve this box; the loop is ended with the test."""
    soak = Soak(box)
    yield soak
    soak.loop.terminate()
    _, err = soak.loop.communicate(timeout=PATIENCE)
    assert (soak.loop.returncode, err) == (0, "")


@pytest.mark.slow
@pytest.mark.promise("R22")
def test_under_load_nothing_grows_but_what_is_remembered(box, soak, rounds, kept):
    """Memory and descriptors of the loop, logs, journal, and the bytes of a memory are at the end what they were."""
    count, seconds = rounds(4, 60), rounds(3, 28)
    phases = []
    with ScriptedProvider() as provider:
        for number in range(count + 1):
            # Vectors of a provider come and go with every other phase.
            box.use(provider) if number % 2 else box.configure()
            phases.append(soak.phase(seconds))
    warm, last = phases[1], phases[-1]
    assert soak.loop.poll() is None
    assert last.rss <= 1.05 * warm.rss
    assert {phase.descriptors for phase in phases} == {warm.descriptors}
    assert max(phase.logs for phase in phases) < 8 * MIB
    assert {phase.journal for phase in phases} == {0}
    assert last.beside < 20 * MIB
    assert last.databases / last.memories <= 1.1 * warm.databases / warm.memories
    assert len(list((box.data / "sessions").iterdir())) <= SESSIONS + 1  # what they were told of each other
    half = len(phases) // 2
    early, late = growth(phases[: half + 1]), growth(phases[half:])
    assert late <= 1.5 * early
    kept(
        f"{len(phases) * seconds} s, {soak.calls} programs, {last.notes} notes, {last.memories} memories: "
        f"loop {warm.rss} KiB and {100 * (last.rss / warm.rss - 1):+.1f} %, {warm.descriptors} descriptors, "
        f"logs {max(phase.logs for phase in phases) // 1024} KiB after drains and {soak.largest_log / MIB:.1f} MiB "
        f"at most, journal empty, {early / 1024:.1f} KiB a memory first and {late / 1024:.1f} last, "
        f"drains {phases[1].drain // 1024} MiB and {last.drain // 1024} MiB, beside them {last.beside // 1024} KiB"
    )
