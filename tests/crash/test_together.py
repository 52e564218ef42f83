"""Readers and writers at once: nobody is turned away, nobody waits for long, and nothing acknowledged is missing."""

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from memman.clock import now_ms
from tests.support.box import PATIENCE
from tests.support.kinds import KINDS, over

SEED = "The heron nests by the river."
QUESTION = "where does the heron nest"
# Half of those who remember and recall are whole programs; the others loop in a process of their own, for volume.
PROGRAMS = {"remember": 2, "recall": 4}
LOOPS = {"remember": 2, "recall": 4}
NOTE = """
import json, sys, time
from memman.queue.append import append
who, until, note, said = sys.argv[1], float(sys.argv[2]), json.loads(sys.argv[3]), []
while not said or time.time() < until:
    began = time.perf_counter()
    uid, fresh = append(sys.argv[4], note | {"text": f"Service {who} of host {len(said)} listens on port {len(said)}."})
    said.append((uid, 1000 * (time.perf_counter() - began)))
    time.sleep(0.05)
print(json.dumps(said))
"""
LOOK = """
import json, sys, time
from memman.hot.recall import found
from memman.store.filters import Filters
from tests.support.kinds import KINDS, over
until, said = float(sys.argv[2]), []
while not said or time.time() < until:
    began = time.perf_counter()
    hits = found(sys.argv[4], "default", sys.argv[3], Filters(), 10, None)
    said.append((any("heron" in hit.row.text for hit in hits), 1000 * (time.perf_counter() - began)))
    time.sleep(0.01)
print(json.dumps(said))
"""
COLUMNS = dict.fromkeys("entities replaces agent session cwd repository revision host user".split(), "")
COLUMNS |= {"store": "default", "category": None, "importance": None, "source": "user"}


def nearly_all(times):
    """Return the time that 99 of 100 keep below."""
    return sorted(times)[int(len(times) * 0.99)]


def quiet(done):
    """Assert that a program did its work and complained of nothing."""
    assert (done.returncode, done.stderr) == (0, ""), (done.args, done.stderr)
    return done.stdout


def looped(box, until, call):
    """Call until the time is over; return (what each gave, its milliseconds)."""
    said = []
    while not said or time.time() < until:
        began = time.perf_counter()
        out = quiet(box.memman(*call(len(said)), timeout=PATIENCE))  # a drain takes along what comes meanwhile
        said.append((out, 1000 * (time.perf_counter() - began)))
    return said


@pytest.mark.slow
@pytest.mark.promise("R18")
@over(*KINDS)
def test_nobody_is_turned_away_and_nothing_is_missing(box, kind, rounds, kept):
    """Eight recall, four remember and one drain at once: no busy error, every answer right, every note stored."""
    box.remember(SEED)
    box.drain()
    seconds = rounds(6, 60)
    until, number = time.time() + seconds, count()
    loops = [
        (kind, box.start(sys.executable, "-c", code, f"l{n}", str(until), given, str(box.data)))
        for kind, code, given in (("remember", NOTE, json.dumps(COLUMNS)), ("recall", LOOK, QUESTION))
        for n in range(LOOPS[kind])
    ]
    with ThreadPoolExecutor(16) as pool:
        drains = pool.submit(looped, box, until, lambda _: ("scheduler", "drain"))
        writers = [
            pool.submit(looped, box, until, lambda _: ("remember", f"Program {next(number)} polls a queue."))
            for _ in range(PROGRAMS["remember"])
        ]
        readers = [pool.submit(looped, box, until, lambda _: ("recall", QUESTION)) for _ in range(PROGRAMS["recall"])]
        told = {"remember": [], "recall": []}
        for verb, loop in loops:
            out, err = loop.communicate(timeout=seconds + 60)
            assert (loop.returncode, err) == (0, "")
            told[verb] += json.loads(out)
        written = [one for writer in writers for one in writer.result()]
        read = [one for reader in readers for one in reader.result()]
        drained = drains.result()
    behind = box.states().get("pending", 0)
    assert box.drain().errors == []
    uids = {uid for uid, _ in told["remember"]} | {out.strip() for out, _ in written}
    assert uids <= set(box.store("SELECT note FROM receipt"))
    assert box.states() == {"done": len(uids) + 1}
    answers = [right for right, _ in told["recall"]] + ["heron" in out for out, _ in read]
    assert all(answers)
    assert box.store("PRAGMA integrity_check") == box.queue("PRAGMA integrity_check") == ["ok"]
    assert drained
    kind.agree()
    late = {verb: nearly_all([ms for _, ms in ran]) for verb, ran in (("remember", written), ("recall", read))}
    inside = {verb: nearly_all([ms for _, ms in ran]) for verb, ran in told.items()}
    kept(
        f"{seconds} s of 8 recall, 4 remember, 1 drain: {len(uids)} notes, {len(answers)} recalls, "
        f"{len(drained)} drains, 0 busy, 0 missing ({behind} still waited); p99 of the program "
        f"{late['remember']:.0f} ms remember, {late['recall']:.0f} ms recall; "
        f"without starting it {inside['remember']:.1f} and {inside['recall']:.1f} ms"
    )


@pytest.mark.promise("R18")
def test_logs_left_large_slow_nobody_down_for_long(box, rounds, kept):
    """With forty megabytes of log behind both databases notes, recalls and drains work; a drain takes the logs in."""
    box.remember(SEED)
    box.drain()
    size = rounds(41, 410) * 2**20
    for path in (box.queue_path, box.store_path()):
        bloat(path, size)
    before = [wal(path) for path in (box.queue_path, box.store_path())]
    assert min(before) >= size
    began = now_ms()
    uid = quiet(box.memman("remember", "The kingfisher hunts at the weir.")).strip()
    assert "heron" in quiet(box.memman("recall", QUESTION))
    assert "kingfisher" in quiet(box.memman("recall", "where does the kingfisher hunt"))
    took = (now_ms() - began) / 1000
    quiet(box.memman("scheduler", "drain"))
    after = [wal(path) for path in (box.queue_path, box.store_path())]
    assert uid in box.store("SELECT note FROM receipt")
    assert max(after) < 8 * 2**20
    assert box.store("PRAGMA integrity_check") == box.queue("PRAGMA integrity_check") == ["ok"]
    kept(
        f"logs of {before[0] // 2**20} and {before[1] // 2**20} MiB: remember and two recalls in {took:.2f} s, "
        f"after the drain {max(after) // 1024} KiB"
    )


def bloat(path, size):
    """Let a write-ahead log grow to `size` bytes, and be left so."""
    code = """
import apsw, sys
db = apsw.Connection(sys.argv[1])
db.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
db.wal_autocheckpoint(0)
db.execute("PRAGMA synchronous=OFF")
for _ in range(1 + int(sys.argv[2]) // 4_100_000):
    db.execute("BEGIN; CREATE TABLE junk AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM n LIMIT 1000)"
               " SELECT randomblob(4050) AS b FROM n; DROP TABLE junk; COMMIT")
"""
    subprocess.run([sys.executable, "-c", code, str(path), str(size)], check=True)


def wal(path):
    """Return the bytes of a database's log."""
    log = path.with_name(path.name + "-wal")
    return log.stat().st_size if log.exists() else 0
