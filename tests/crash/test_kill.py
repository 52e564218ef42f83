"""kill -9 at every failpoint and at random moments: nothing lost, nothing twice, nothing paid twice, nothing parked.

The suite runs a short form; `make crash` sets MEMMAN_CRASH_KILLS to 100 and more.
"""

import os
import random
import signal
import subprocess
import time
from collections import Counter

import pytest

from memman.testing.failpoints import points
from memman.testing.providers import ScriptedProvider

KILLS = int(os.environ.get("MEMMAN_CRASH_KILLS", "10"))
NOTES = 20
# Tells when the imports are done, so that the kill strikes at the work and not at the start of Python.
READY = "from memman import compose; from memman.drain import loop; print('ready', flush=True); compose.drain()"
MAX_DRAINS = 20 * KILLS + 100


def exact(box, uids):
    """Assert that each note is done, has its one memory once, and left nothing behind."""
    stored = Counter(box.store("SELECT note FROM memory"))
    assert {uid: stored[uid] for uid in uids} == dict.fromkeys(uids, 1)
    assert stored.total() == len(uids)
    assert sorted(box.store("SELECT note FROM receipt")) == sorted(uids)
    assert box.states() == {"done": len(uids)}
    assert box.queue("SELECT * FROM journal") == []
    assert box.store("PRAGMA integrity_check") == box.queue("PRAGMA integrity_check") == ["ok"]


@pytest.mark.parametrize("point", tuple(points()))
def test_a_drain_killed_at_a_failpoint_is_finished_by_the_next(box, point):
    """Killed at this point, the drain loses and doubles nothing and pays again only for an unjournaled call."""
    with ScriptedProvider() as provider:
        box.use(provider, DRAIN_CONCURRENCY=1)
        uids = [box.remember("Redis caches the invoices of the billing service.")]
        box.drain()
        texts = {
            "Alphaword": "Redis caches the Alphaword sessions of the billing service.",
            "Betaword": "Redis caches the Betaword sessions of the billing service.",
            "Gammaword": "Redis caches the Gammaword sessions of the billing service.",
        }
        uids += [box.remember(text) for text in texts.values()]
        provider.received.clear()
        killed = box.start_drain(MEMMAN_FAILPOINT=f"{point}@2")
        killed.communicate(timeout=60)
        assert killed.returncode == -signal.SIGKILL
        assert box.drain().stopped == ""
        paid = {word: Counter() for word in texts}
        for got in provider.received:
            # A later note's question quotes earlier ones as memories: it is about the last it names.
            asked = str(got.body).partition("<memories>")[0]
            task = got.task or got.path.rpartition("/")[2]
            for word in texts:
                paid[word][task] += word in asked
    exact(box, uids)
    assert box.store("SELECT DISTINCT dimension FROM embedder JOIN vector ON id = embedder ORDER BY 1") == [64, 384]
    once = {"extract": 1, "reconcile": 1, "embeddings": 1}
    stage = {"embed": "embeddings"}.get(point.partition(":")[2], point.partition(":")[2])
    again = {stage: 2} if point.startswith("unjournaled:") else {}
    assert paid == {"Alphaword": once, "Betaword": once | again, "Gammaword": once}


@pytest.mark.parametrize("http", [False, True], ids=["builtin", "http"])
def test_drains_killed_at_random_moments_lose_and_double_nothing(box, http):
    """However often drains die by kill -9, every note ends up stored exactly once and none is parked."""
    chance = random.Random(5)
    killed, drains = 0, 0
    with ScriptedProvider(latency=0.01) as provider:
        if http:
            box.use(provider)
        uids = [box.remember(f"Service number {n} listens on port {n}.") for n in range(NOTES)]
        drain = box.start_drain(READY)
        assert drain.stdout.readline() == "ready\n"
        began = time.monotonic()
        drain.communicate(timeout=60)
        undisturbed = time.monotonic() - began
        while killed < KILLS:
            if box.states().keys() == {"done"}:
                uids += [box.remember(f"Service number {len(uids) + n} listens on port {n}.") for n in range(NOTES)]
            drain = box.start_drain(READY)
            assert drain.stdout.readline() == "ready\n"
            try:
                drain.wait(chance.uniform(0.0, undisturbed))
            except subprocess.TimeoutExpired:
                drain.kill()
            drain.communicate(timeout=60)
            killed += drain.returncode == -signal.SIGKILL
            drains += 1
            assert drain.returncode in {0, -signal.SIGKILL}
            assert drains < MAX_DRAINS
        while box.states().keys() != {"done"}:
            report = box.drain()
            assert report.done, box.queue("SELECT * FROM note WHERE state <> 'done'")
            assert report.errors == []
    exact(box, uids)


def test_a_uid_that_remember_printed_is_in_the_queue_whenever_it_was_killed(box):
    """Every uid that reached standard output before kill -9 names a note on disk with its whole text."""
    chance = random.Random(7)
    began = time.monotonic()
    box.memman("remember", "The first note makes the file.")
    undisturbed = time.monotonic() - began
    printed, silent = {}, 0
    for number in range(3 * KILLS):
        process = box.start(box.script, "remember", f"note number {number}")
        time.sleep(chance.uniform(0.0, 2 * undisturbed))
        process.kill()
        out, err = process.communicate(timeout=60)
        assert err == ""
        if out:
            printed[out.strip()] = f"note number {number}"
        else:
            silent += 1
    queued = dict(box.queue("SELECT uid, text FROM note"))
    assert printed.items() <= queued.items()
    assert printed
    assert silent
    assert box.queue("PRAGMA integrity_check") == ["ok"]
    assert box.drain().done == len(queued)


def test_a_note_that_kills_every_drain_is_parked_alone(box):
    """Of thirty notes one kills the process that touches it: it is parked after five attempts, the rest is stored."""
    uids = {n: box.remember(f"Worker {n} polls queue {n}." + " poison" * (n == 11)) for n in range(30)}
    kills = 0
    while (drain := box.start_drain(MEMMAN_FAILPOINT="before:reconcile/poison")).wait(timeout=60):
        drain.communicate()
        kills += 1
        assert kills <= 5
    drain.communicate()
    assert kills == 5
    assert box.states() == {"done": 29, "parked": 1}
    assert box.queue("SELECT uid, attempts FROM note WHERE state = 'parked'") == [(uids.pop(11), 5)]
    assert sorted(box.store("SELECT note FROM memory")) == sorted(uids.values())
