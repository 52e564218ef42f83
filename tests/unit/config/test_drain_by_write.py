"""A write starts a drain where nobody else does: one, apart from its caller, that ends by itself."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from fcntl import LOCK_EX, flock
from pathlib import Path

import pytest

from memman.config import drain_by_write, schedule
from memman.config.lockfile import held
from memman.config.schedule import Schedule
from tests.support.box import wait_until

# Runs commands below a process that inherits all that outlives them, and tells how each ended: (argument, exit code).
ADOPTED = """
import ctypes, json, os, subprocess, sys
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
said = json.loads(sys.argv[1])
started = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for command in said]
ended = {}
while True:
    try:
        pid, status = os.wait()
    except ChildProcessError:
        break
    ended[pid] = os.waitstatus_to_exitcode(status)
ours = {process.pid for process in started}
print(json.dumps({"writes": [ended[pid] for pid in ours], "drains": [ended[pid] for pid in ended.keys() - ours]}))
"""
HOLDER = """
import sys
from memman.locks import drain_lock
with drain_lock(sys.argv[1]):
    print(flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def here(box, monkeypatch):
    """Give a box in which writes start drains."""
    del box.environ["MEMMAN_DRAIN"]
    monkeypatch.delenv("MEMMAN_DRAIN")
    return box


def adopted(box, *texts, **environ):
    """Remember texts at once, and wait for the end of all that this starts; return the exit codes."""
    commands = json.dumps([[box.script, "remember", text] for text in texts])
    done = box.start(sys.executable, "-c", ADOPTED, commands, **environ)
    out, err = done.communicate(timeout=60)
    assert done.returncode == 0, err
    return json.loads(out)


@contextmanager
def stalled(box):
    """Give a box a provider that never answers, and what waits until a drain calls it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(60)
        port = server.getsockname()[1]
        box.configure(LLM_PROVIDER="openai", LLM_ENDPOINT=f"http://127.0.0.1:{port}/v1", HTTP_TRIES=1)
        calls = []
        yield lambda: calls.append(server.accept()[0])
        for call in calls:
            call.close()


@contextmanager
def locked(path):
    """Hold a lock file."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    with path.open("a") as file:
        flock(file, LOCK_EX)
        yield


def drains(box):
    """Return what the worker's log says of drains that had notes to work on."""
    path = box.data / "logs/worker.jsonl"
    lines = map(json.loads, path.read_text().splitlines()) if path.exists() else ()
    return [line for line in lines if line["event"] == "drain started"]


def test_a_note_is_stored_by_the_drain_that_it_starts(here):
    """The write ends, the drain comes to its end, and both leave their exit codes to whoever inherits them."""
    assert adopted(here, "The heron nests by the river.") == {"writes": [0], "drains": [0]}
    assert here.states() == {"done": 1}
    assert here.recall("heron") == ["The heron nests by the river."]
    assert len(drains(here)) == 1
    assert not os.path.exists(schedule.bell_path(str(here.data)))


def test_notes_of_one_moment_are_all_stored(here):
    """Of twenty writers at once none starts a drain for nothing to do, and no note waits for another write."""
    texts = [f"Server {number} runs in rack {number}." for number in range(20)]
    ended = adopted(here, *texts)
    assert (ended["writes"], set(ended["drains"])) == ([0] * 20, {0})
    assert len(ended["drains"]) <= 20
    assert here.states() == {"done": 20}


def test_while_a_drain_is_at_work_no_write_starts_another(here):
    """Whoever finds the lock held leaves the bell; once it is free, one drain takes all that waits."""
    with locked(here.data / "drain.lock"):
        assert adopted(here, *(f"Server {n} runs in rack {n}." for n in range(5)))["drains"] == []
        assert here.states() == {"pending": 5}
    assert len(adopted(here, "The heron nests by the river.")["drains"]) == 1
    assert here.states() == {"done": 6}


def test_whoever_held_the_lock_looks_at_the_bell_when_it_lets_go(here):
    """A note that came while a person's own drain was at its end is taken by one that follows."""
    held = "import sys\nfrom memman.locks import drain_lock\nwith drain_lock(sys.argv[1]):\n    print(flush=True)\n"
    held += "    sys.stdin.read()\n"
    command = (sys.executable, "-c", held, str(here.data))
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=here.environ) as holder:
        holder.stdout.readline()
        assert adopted(here, "The heron nests by the river.")["drains"] == []
        holder.communicate(b"")
    wait_until(lambda: here.states() == {"done": 1})


def test_a_caller_that_reads_to_the_end_does_not_wait_for_the_drain(here):
    """No stream of the caller's, nor any other file it left open, is held open by the drain; its session is its own."""
    ours, theirs = os.pipe()
    with stalled(here) as called:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
        command = [here.script, "remember", "The heron nests by the river."]
        with subprocess.Popen(command, env=here.environ, pass_fds=(theirs,), **streams) as write:
            os.close(theirs)
            out, err = write.communicate(timeout=60)
            assert (len(out.strip()), err, os.read(ours, 1)) == (32, b"", b"")
        called()
        assert held(drain_by_write.lock_path(str(here.data)))
        (pid,) = found(here)
        assert os.getsid(pid) == pid != os.getsid(0)
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        assert here.memman("scheduler", "stop").returncode == 0
        wait_until(lambda: not held(drain_by_write.lock_path(str(here.data))))
    assert here.states() == {"pending": 1}
    os.close(ours)


def found(box):
    """Return the drains of a box that run."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words, environ = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        except OSError:
            continue
        if b"--handed" in words and f"MEMMAN_DATA_DIR={box.data}\0".encode() in environ:
            yield int(folder.name)


NOT_WANTED = {
    "stopped": Schedule(stopped=True),
    "nobody": Schedule("nobody"),
    "systemd": Schedule("systemd"),
    "launchd": Schedule("launchd"),
}


@pytest.mark.parametrize("why", NOT_WANTED)
def test_where_somebody_else_starts_drains_or_nobody_may_no_write_does(here, why):
    """The schedule says who does."""
    here.data.mkdir(mode=0o700)
    NOT_WANTED[why].save(str(here.data))
    assert not drain_by_write.wanted(str(here.data))


def test_the_environment_may_say_that_no_write_starts_drains(here):
    """MEMMAN_DRAIN=off leaves a note to whoever drains it."""
    assert adopted(here, "The heron nests.", MEMMAN_DRAIN="off")["drains"] == []
    assert here.states() == {"pending": 1}


def test_a_manager_that_is_gone_is_done_without(here):
    """Once its drains are overdue, writes start them."""
    here.data.mkdir(mode=0o700)
    Schedule("systemd").save(str(here.data))
    assert not drain_by_write.wanted(str(here.data))
    long_ago = time.time() - 600
    os.utime(schedule.schedule_path(str(here.data)), (long_ago, long_ago))
    assert len(adopted(here, "The heron nests by the river.")["drains"]) == 1
    assert here.states() == {"done": 1}
    assert not drain_by_write.wanted(str(here.data))


def test_a_loop_that_serves_is_left_to_it_while_it_runs(here):
    """Its lock tells."""
    here.data.mkdir(mode=0o700)
    Schedule("serve").save(str(here.data))
    assert drain_by_write.wanted(str(here.data))
    with locked(here.data / "serve.lock"):
        assert not drain_by_write.wanted(str(here.data))


@pytest.mark.parametrize("point", ["claimed", "before:commit", "committed", "acknowledged", "before:maintenance"])
def test_a_drain_that_is_killed_is_followed_by_the_next_write_s(here, point):
    """Wherever it dies, both notes are stored, once."""
    first = adopted(here, "The heron nests by the river.", MEMMAN_FAILPOINT=point)
    assert first == {"writes": [0], "drains": [-9]}
    assert adopted(here, "The nightly import runs at 02:00 UTC.")["drains"] == [0]
    assert here.states() == {"done": 2}
    assert sorted(here.store("SELECT count(*) FROM memory")) == [2]


def test_what_lies_in_the_callers_folder_is_not_run(here, tmp_path):
    """A folder that holds modules of our names is the project's, not ours."""
    trap = tmp_path / "project"
    trap.mkdir()
    for name in ("memman", "json", "apsw", "click"):
        (trap / f"{name}.py").write_text("raise SystemExit(3)")
    done = subprocess.run([here.script, "remember", "A heron nests."], cwd=trap, env=here.environ, check=False)
    assert done.returncode == 0
    wait_until(lambda: here.states() == {"done": 1})


def test_what_a_drain_leaves_at_its_deadline_the_next_one_takes(here):
    """It rings, lets go, and another follows until nothing waits."""
    for number in range(3):
        adopted(here, f"Server {number} runs in rack {number}.", MEMMAN_DRAIN="off")
    assert here.states() == {"pending": 3}
    assert here.memman("scheduler", "drain", "--deadline", "0.001").returncode == 0
    wait_until(lambda: here.states() == {"done": 3})


def test_a_bell_that_cannot_be_silenced_starts_no_drain_after_drain(here):
    """One drain for each write, and no more."""
    here.data.mkdir(mode=0o700)
    (here.data / "doorbell").mkdir()
    (here.data / "doorbell/stuck").touch()
    assert len(adopted(here, "The heron nests by the river.")["drains"]) == 1
    assert here.states() == {"done": 1}


def test_a_failed_drain_is_not_started_again_and_again(here):
    """Settings that cannot be read end it; the next write tries again, and the log says why."""
    here.configure(LLM_PROVIDER="nobody")
    assert adopted(here, "The heron nests by the river.")["drains"] == [78]
    log = (here.data / "logs/worker.jsonl").read_text()
    assert "MEMMAN_LLM_PROVIDER takes one of" in log


def test_the_verbs_know_it_as_a_kind_like_the_others(here):
    """Status names it, trigger starts one, an interval has no meaning, uninstall ends it, install brings it back."""
    assert "by each write\n" in here.memman("scheduler", "status").stdout
    assert here.memman("scheduler", "trigger").stdout == "a drain was started\n"
    for words in (("interval",), ("interval", "15")):
        done = here.memman("scheduler", *words)
        assert (done.returncode, "there is no interval" in done.stderr) == (69, True)
    assert here.memman("scheduler", "uninstall").returncode == 0
    assert "nothing starts drains" in here.memman("scheduler", "status").stdout
    assert here.memman("scheduler", "trigger").returncode == 69
    here.environ["PATH"] = "/nonexistent"
    assert "each write starts a drain" in here.memman("scheduler", "install").stdout
    assert Schedule.load(str(here.data)).kind == "write"
