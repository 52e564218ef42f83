"""Many drains at once: one works, the others wait; a lock is free when its holder is gone, not before."""

import fcntl
import json
import os
import signal
import time
from collections import Counter

import pytest

from tests.support.box import PATIENCE
from tests.support.kinds import KINDS, over
from tests.support.nursery import Nursery
from tests.support.providers import ScriptedProvider

TOGETHER = 16
# A drain that is stopped when it has the lock.
STOPS = """
import os, signal
from memman.drain import run
def started(queue):
    print("at work", flush=True)
    os.kill(os.getpid(), signal.SIGSTOP)
    return lambda: None
run.drain(started=started)
"""
# A holder whose child outlives it.
LEAVES_A_CHILD = """
import os, signal, subprocess, sys
from memman.locks import drain_lock
with drain_lock(sys.argv[1]):
    child = subprocess.Popen(["sleep", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.slow
@pytest.mark.promise("R7")
@over(*KINDS)
def test_of_sixteen_drains_started_together_one_works_at_a_time(box, kind, tmp_path, rounds, kept):
    """While one has the lock the other fifteen wait for it, all end well, and every note is processed once."""
    codes, number, gate = Counter(), rounds(1 if kind else 3, 100), tmp_path / "gate"
    with gate.open("wb") as held, ScriptedProvider() as provider, Nursery(box.environ) as nursery:
        box.use(provider)
        uids = []
        for n in range(number):
            uids.append(box.remember(f"Service number {n} listens on port {n}."))
            fcntl.flock(held, fcntl.LOCK_EX)
            pids = [nursery.start("scheduler", "drain", gate=str(gate)) for _ in range(TOGETHER)]
            fcntl.flock(held, fcntl.LOCK_UN)
            ended = nursery.reap(TOGETHER)
            assert {one.pid for one in ended} == set(pids)
            codes.update(one.code for one in ended)
        assert provider.tasks["extract"] == number
    assert codes == {0: TOGETHER * number}
    assert sorted(box.store("SELECT note FROM memory")) == sorted(uids)
    assert box.states() == {"done": number}
    kind.agree()
    kept(f"{TOGETHER} drains, {number} times: {codes[0]} ended well, every note was processed once")


@pytest.mark.promise("R7")
def test_a_child_of_a_dead_drain_keeps_no_lock(box, kept):
    """What a drain has started may outlive it; the next drain works all the same."""
    box.remember("Service number 1 listens on port 1.")
    code = LEAVES_A_CHILD.replace("sys.argv[1]", repr(str(box.data)))
    dead = box.start_drain(code)
    child = int(dead.stdout.readline())
    try:
        dead.communicate(timeout=PATIENCE)
        assert dead.returncode == -signal.SIGKILL
        os.kill(child, 0)
        done = box.drain().done
    finally:
        os.kill(child, signal.SIGKILL)
    assert done == 1
    kept(f"beside a dead drain's child: {done} of 1 note drained")


@pytest.mark.promise("R7")
def test_doctor_tells_of_a_drain_that_was_stopped_amid_its_work(box, kept):
    """A drain that holds the lock and gives no sign of life is a failure with a way out; let go on, it is none."""
    box.remember("Service number 1 listens on port 1.")
    drain = box.start_drain(STOPS)
    assert drain.stdout.readline() == "at work\n"
    assert drains(box)["status"] != "fail"
    for name in ("heartbeat", "drain.lock"):
        (box.data / name).touch()
        os.utime(box.data / name, (time.time() - 1200,) * 2)
    said = drains(box)
    assert (said["status"], said["mend"]) == ("fail", f"lsof {box.data}/drain.lock")
    assert "made no progress for 20 minutes: it is suspended or hangs" in said["says"]
    os.kill(drain.pid, signal.SIGCONT)
    drain.communicate(timeout=PATIENCE)
    assert drain.returncode == 0
    assert box.states() == {"done": 1}
    assert drains(box)["status"] == "ok"
    kept(f"a stopped drain: doctor says {said['status']}, and {drains(box)['status']} once it went on")


def drains(box):
    """Return the first thing that doctor says of drains."""
    findings = json.loads(box.memman("doctor", "--json").stdout)["findings"]
    return next(finding for finding in findings if finding["check"] == "drains")
