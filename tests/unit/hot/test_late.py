"""What a hook does not get done within its second is taken up once by a drain, or counted."""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from memman.config import launcher
from memman.queue import arrivals, late
from memman.queue.append import insert
from tests.support.box import wait_until
from tests.support.hook_calls import hook

CORRECTION = "No, we deploy billing with Nomad, never with Kubernetes."
SECRET = "ghp_Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"


@pytest.fixture(autouse=True)
def _usual(box):
    """Give hooks their usual second."""
    del box.environ["MEMMAN_HOOK_LIMIT"]


@contextmanager
def busy(box):
    """Hold the queue, so that whoever would write to it waits."""
    db = apsw.Connection(str(box.queue_path))
    db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        db.execute("ROLLBACK")
        db.close()


@pytest.fixture
def ready(box):
    """Give a box with a queue, in which whatever a turn leaves is kept."""
    box.configure(CAPTURE="turns")
    box.remember("The heron nests by the river.")
    box.drain()
    return box


def turn(box, prompt, reply="Understood.", **environ):
    """Play the end of a turn; return the finished hook."""
    payload = {"session_id": "s", "cwd": str(box.data.parent), "hook_event_name": "Stop", "prompt": prompt}
    return hook(box, "stop", "claude-code", payload | {"last_assistant_message": reply}, **environ)


def left(box):
    """Return the files of notes that are not in the queue yet."""
    folder = box.data / "arrivals"
    return sorted(folder.iterdir()) if folder.exists() else []


def turns(box):
    """Return the turns of the queue by state."""
    return dict(box.queue("SELECT state, count(*) FROM note WHERE channel = 'turn' GROUP BY state"))


def test_a_turn_that_the_queue_kept_waiting_is_taken_up_once(ready):
    """The hook ends in its time with nothing said; the note is on disk for its owner only, and drained later, once."""
    with busy(ready):
        done = turn(ready, CORRECTION)
    assert (done.returncode, done.stdout) == (0, b"")
    (path,) = left(ready)
    assert path.stat().st_mode & 0o777 == 0o600
    assert turns(ready) == {}
    assert ready.memman("scheduler", "drain", "--wait").returncode == 0
    assert (turns(ready), left(ready)) == ({"done": 1}, [])
    ready.drain()
    assert turns(ready) == {"done": 1}
    assert any("Nomad" in text for text in ready.recall("billing deploy"))


def test_a_prompt_is_said_by_one_turn_only(ready):
    """What the hook kept aside is not in the session any more, and not in the note of the next turn."""
    said = {"session_id": "s", "cwd": str(ready.data.parent)}
    hook(ready, "user-prompt", "claude-code", said | {"prompt": CORRECTION})
    with busy(ready):
        hook(ready, "stop", "claude-code", said | {"last_assistant_message": "Understood."})
    hook(ready, "user-prompt", "claude-code", said | {"prompt": "And where does the heron nest?"})
    hook(ready, "stop", "claude-code", said | {"last_assistant_message": "By the river."})
    ready.memman("scheduler", "queue", "list")
    arrivals.take_up(str(ready.data))
    texts = ready.queue("SELECT text FROM note WHERE channel = 'turn'")
    assert sorted(texts) == ["And where does the heron nest?", CORRECTION]


def test_what_is_queued_is_not_taken_up_again(ready):
    """Whether the note waits, is stored, or is gone from the queue: where its file was left behind, nothing doubles."""
    with busy(ready):
        turn(ready, CORRECTION)
    (path,) = left(ready)
    text = path.read_bytes()
    for _ in range(2):
        arrivals.take_up(str(ready.data))
        assert turns(ready) == {"pending": 1}
        path.write_bytes(text)
    ready.drain()
    memories = ready.store("SELECT count(*) FROM memory")
    path.write_bytes(text)
    ready.drain()
    assert ready.memman("scheduler", "queue", "purge", "--done").returncode == 0
    path.write_bytes(text)
    ready.drain()
    assert (left(ready), ready.store("SELECT count(*) FROM memory")) == ([], memories)


def test_a_drain_may_take_it_up_while_its_hook_still_tries(ready):
    """The row is the same one: whoever comes second leaves it as it is."""
    with busy(ready):
        turn(ready, CORRECTION)
    (path,) = left(ready)
    row = json.loads(path.read_text())
    arrivals.take_up(str(ready.data))
    assert insert(str(ready.data), row)[1] is False
    assert turns(ready) == {"pending": 1}


def test_what_is_kept_aside_holds_no_secret(ready):
    """The rules have seen it before any file does."""
    with busy(ready):
        turn(ready, f"{CORRECTION} The token is {SECRET}.", f"I keep {SECRET} in mind.")
    assert len(left(ready)) == 1
    found = [path for path in ready.data.rglob("*") if path.is_file() and SECRET.encode() in path.read_bytes()]
    assert found == []


def test_nothing_is_kept_aside_where_nothing_may_be(ready):
    """With capture off, a hook that finds the queue busy leaves no file and nothing to count."""
    ready.configure(CAPTURE="off")
    with busy(ready):
        turn(ready, CORRECTION)
    assert (left(ready), (ready.data / "late").exists()) == ([], False)


def test_a_late_turn_has_a_drain_started(ready, monkeypatch):
    """Where writes start drains this one does too, with no other write to come."""
    monkeypatch.delenv("MEMMAN_DRAIN")
    del ready.environ["MEMMAN_DRAIN"]
    with busy(ready):
        turn(ready, CORRECTION)
    wait_until(lambda: turns(ready) == {"done": 1})


def test_a_torn_file_is_counted_as_a_turn_that_is_lost(ready):
    """One that may still be written is left alone; one that is old goes."""
    folder = ready.data / "arrivals"
    folder.mkdir(mode=0o700)
    torn = folder / ("0" * 32)
    torn.write_text('{"uid": "0')
    assert (arrivals.take_up(str(ready.data)), torn.exists()) == (0, True)
    long_ago = time.time() - 600
    os.utime(torn, (long_ago, long_ago))
    assert (arrivals.take_up(str(ready.data)), torn.exists()) == (0, False)
    assert late.counts(str(ready.data), 60)["turn"] == 1


@pytest.mark.parametrize(
    "wrong", [{"store": "../x"}, {"uid": "../../x"}, {"text": 5}, {"extra": ""}, {"queued_at": ""}]
)
def test_a_file_that_no_hook_writes_is_not_taken_up(ready, wrong):
    """Columns, types, the uid and the store's name are what a hook's are."""
    with busy(ready):
        turn(ready, CORRECTION)
    (path,) = left(ready)
    path.write_text(json.dumps(json.loads(path.read_text()) | wrong))
    assert arrivals.take_up(str(ready.data)) == 0
    assert turns(ready) == {}


@pytest.mark.slow
def test_what_is_missing_is_counted_and_shown(ready):
    """Whoever closes its pipe too late gets no answer; status, its JSON and doctor say how often what was missing."""
    for event in ("user-prompt", "session-start", "stop", "session-end"):
        command = [ready.script, "hook", event, "--host", "claude-code"]
        streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        with subprocess.Popen(command, env=ready.environ, cwd=ready.data.parent, **streams) as process:
            assert process.stdout.read() == b""
            assert process.wait() == 0
    with busy(ready):
        turn(ready, CORRECTION)
    counted = json.loads(ready.memman("status", "--json").stdout)["late"]
    # By how far it has come within its second, a turn is left to a drain or lost.
    assert counted | {"queued": 2, "turn": 0} == {
        "answer": 1,
        "late": 0,
        "queued": 2,
        "prompt": 1,
        "turn": 0,
        "large": 0,
    }
    assert counted["queued"] + counted["turn"] == 2
    shown = ready.memman("status").stdout
    assert "in 7 days: answers not given 1, " in shown
    assert f"turns lost {counted['turn']}" in shown


def test_where_nothing_is_missing_nothing_is_said(ready):
    """Hooks in time leave no record."""
    turn(ready, CORRECTION)
    assert turns(ready) == {"pending": 1}
    assert (left(ready), (ready.data / "late").exists()) == ([], False)
    assert "too late" not in ready.memman("status").stdout


def test_the_record_stays_short(ready):
    """A drain keeps the newest lines of a long one; old lines and torn ones count no more."""
    path = ready.data / "late"
    now = int(time.time())
    path.write_text("1 turn stop\nnonsense\n" + f"{now} answer user-prompt\n" * 4000 + f"{now} turn st")
    assert late.counts(str(ready.data), 60) == {
        "answer": 4000,
        "late": 0,
        "queued": 0,
        "prompt": 0,
        "turn": 1,
        "large": 0,
    }
    ready.remember("Another note, so that a drain has work.")
    ready.drain()
    assert path.stat().st_size <= 32_768
    assert late.counts(str(ready.data), 60)["turn"] == 1


def launched(box, event, payload):
    """Start a hook by the launcher, as hosts do; give it its payload."""
    launcher.lay(str(box.data))
    command = [launcher.launcher_path(str(box.data)), "hook", event, "--host", "claude-code"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    process = subprocess.Popen(command, env=box.environ, cwd=box.data.parent, **streams)
    process.stdin.write(json.dumps({"session_id": "s", "cwd": str(box.data.parent)} | payload).encode())
    process.stdin.close()
    return process


def test_a_turn_that_is_late_is_kept_behind_the_turn(ready):
    """The launcher ends with the hook's second and its output is closed; the program queues the turn when it can."""
    with busy(ready), launched(ready, "stop", {"prompt": CORRECTION, "last_assistant_message": "Understood."}) as host:
        assert host.stdout.read() == b""
        assert host.wait() == 0
        assert turns(ready) == {}
    wait_until(lambda: turns(ready) == {"pending": 1} and not left(ready))
    wait_until(lambda: late.counts(str(ready.data), 60)["late"] == 1)


def test_a_program_that_does_not_begin_is_left_alone_for_a_minute(ready):
    """The host ends it once; hooks after that end at once, and after the minute it is started again."""
    launcher.lay(str(ready.data))
    program = ready.data.parent / "program"
    program.write_text(f"#!/bin/sh\n: >{ready.data.parent}/started\nexec sleep 60\n")
    program.chmod(0o755)
    path = launcher.launcher_path(str(ready.data))
    with open(path, "w", encoding="utf-8") as file:
        file.write(launcher.text(str(ready.data), str(program)))
    started, hung = ready.data.parent / "started", ready.data / "hung"
    with subprocess.Popen([path, "hook", "stop", "--host", "codex"], env=ready.environ) as host:
        wait_until(started.exists)
        host.terminate()
    assert oct(hung.stat().st_mode & 0o777) == "0o600"
    assert late.counts(str(ready.data), 60)["turn"] == 1
    started.unlink()
    for name, said in (("codex", b""), ("gemini", b"{}\n")):
        done = subprocess.run(
            [path, "hook", "stop", "--host", name], env=ready.environ, capture_output=True, check=True
        )
        assert (done.stdout, started.exists()) == (said, False)
    assert late.counts(str(ready.data), 60)["turn"] == 3, "what is left out for the minute is lost, and counted"
    long_ago = time.time() - 120
    os.utime(hung, (long_ago, long_ago))
    with subprocess.Popen([path, "hook", "stop", "--host", "codex"], env=ready.environ) as host:
        wait_until(started.exists)
        assert not hung.exists()
        host.send_signal(signal.SIGINT)
    assert not hung.exists()


def begun(launched):
    """Whether the program behind a launcher watches its time, which is when it has told the launcher so."""
    children = Path(f"/proc/{launched}/task/{launched}/children").read_text().split()
    return any(len(os.listdir(f"/proc/{child}/task")) > 1 for child in children)


def test_a_program_that_has_begun_is_not_left_alone(ready):
    """A user who breaks a turn off amid a hook does not lose the next one's."""
    launcher.lay(str(ready.data))
    command = [launcher.launcher_path(str(ready.data)), "hook", "stop", "--host", "codex"]
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=ready.environ, **streams) as host:
        wait_until(lambda: begun(host.pid))
        host.terminate()
        assert host.wait() == 0
        assert host.stdout.read() == b""
    assert not (ready.data / "hung").exists()


def test_a_turn_that_its_host_breaks_off_is_kept(ready):
    """What has begun is not ended with the launcher: the turn is queued when it can be."""
    with busy(ready):
        with launched(ready, "stop", {"prompt": CORRECTION, "last_assistant_message": "Understood."}) as host:
            wait_until(lambda: begun(host.pid))
            host.terminate()
            assert host.wait() == 0
        assert turns(ready) == {}
    wait_until(lambda: turns(ready) == {"pending": 1} and not left(ready))
