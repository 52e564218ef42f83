"""Backups under load hold every acknowledged note, and nothing half-done is listed or left after kill -9."""

import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, suppress

import pytest

from memman.drain import run
from memman.recovery.backup import faults, listed
from memman.recovery.restore import restore
from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore
from tests.support.box import PATIENCE, Box, rows, wait_until
from tests.support.kinds import KINDS, over

CREATE = """
import sys
from memman.recovery.backup import take
print('ready', flush=True)
take(sys.argv[1])
"""
RESTORE = """
import sys
from memman.recovery.restore import restore
print('ready', flush=True)
restore(sys.argv[1], 'latest')
"""


class Load:
    """Remembers and drains without pause, by processes of their own, until it is left; `acknowledged` are the uids."""

    def __init__(self, box):
        self.box, self.acknowledged, self.failed, self.over = box, [], [], threading.Event()
        self.threads = [threading.Thread(target=work) for work in (self._remember, self._drain)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        wait_until(lambda: self.acknowledged or self.failed)
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()

    def memman(self, *args):
        """Run `memman` by a process that no other thread has a hand in."""
        return self.box.memman(*args, timeout=PATIENCE)

    def _remember(self):
        number = 0
        while not self.over.is_set():
            number += 1
            done = self.memman("remember", f"Service number {number} listens on port {number}.")
            (self.failed if done.returncode else self.acknowledged).append(done.stdout.strip() or done.stderr)

    def _drain(self):
        while not self.over.is_set():
            done = self.memman("scheduler", "drain")
            self.failed += [done.stderr] if done.returncode else []


@pytest.mark.slow
@pytest.mark.promise("R14")
@over(*KINDS)
def test_backups_under_load_restore_and_hold_every_note_acknowledged_before(
    box, kind, tmp_path, monkeypatch, rounds, kept
):
    """Each backup taken while notes come and are drained verifies, restores elsewhere, and lacks no earlier note."""
    wanted, before = rounds(2 if kind else 4, 50), {}
    with Load(box) as load:
        while len(before) < wanted:
            acknowledged = set(load.acknowledged)
            made = box.memman("backup", "create", f"round-{len(before)}")
            assert made.returncode == 0, made.stderr
            before[made.stdout.split()[0]] = acknowledged
    assert load.failed == []
    assert set(listed(str(box.data))) == set(before)
    opened = missing = checked = 0
    for name, acknowledged in before.items():
        manifest = listed(str(box.data))[name]
        opened += not list(faults(f"{box.data}/backups/{name}", manifest.parts))
        fresh = tmp_path / "fresh" / name
        shutil.copytree(box.data / "backups" / name, fresh / "backups" / name)
        restore(str(fresh), name)
        monkeypatch.setenv("MEMMAN_DATA_DIR", str(fresh))
        report = run.drain()
        assert (report.errors, report.failed, report.deferred) == ([], 0, 0)
        stored = set(Box(fresh, box.environ).store("SELECT note FROM memory"))
        missing += len(acknowledged - stored)
        checked += len(acknowledged)
        shutil.rmtree(fresh)
    assert checked
    assert (opened, missing) == (wanted, 0)
    kept(f"{wanted} backups under load: {opened} sound and restored, {missing} of {checked} earlier notes missing")


@pytest.mark.slow
@pytest.mark.promise("R14")
def test_a_backup_that_is_killed_is_not_listed(box, rounds, kept):
    """However often taking one is killed, every listed backup is whole, and the next one clears away what was begun."""
    box.remember("Redis caches the invoices of the billing service.")
    box.drain()
    wanted, chance, killed, begun, torn = rounds(5, 100), random.Random(3), 0, 0, 0
    undisturbed = finished(box, CREATE)
    while killed < wanted:
        killed += struck(box, CREATE, chance.uniform(0.0, undisturbed))
        begun += any(drafts(box))
        for name, made in listed(str(box.data)).items():
            torn += made is None or any(faults(f"{box.data}/backups/{name}", made.parts))
    finished(box, CREATE)
    assert (torn, list(drafts(box))) == (0, [])
    assert begun
    kept(f"{killed} kills of a backup, {begun} while it was written: {torn} listed that are not whole")


@pytest.mark.slow
@pytest.mark.promise("R14")
def test_a_restore_that_is_killed_leaves_the_old_store_or_the_new(box, rounds, kept):
    """Whenever it is killed, a store that is gone is gone or whole, and one that lacks records has all or none."""
    first = {name: {box.remember("Redis caches the invoices.", store=name)} for name in ("default", "other")}
    box.drain()
    assert box.memman("backup", "create").returncode == 0
    path = box.store_path("other")
    with closing(SqliteStore(str(path))) as store, store.unit() as unit:
        lost = record_log.withhold(unit.db, [*first["other"], *box.store("SELECT uid FROM memory", name="other")])
        index.rewrite(unit.db, {one.memory for one in lost})
    assert receipts(path) == set()
    lacking = path.read_bytes()
    wanted, chance, killed, torn, gone, lacked = rounds(5, 100), random.Random(4), 0, 0, 0, 0
    undisturbed = finished(box, RESTORE)
    while killed < wanted:
        shutil.rmtree(box.store_path().parent, ignore_errors=True)
        shutil.rmtree(path.parent)
        path.parent.mkdir(0o700)
        path.write_bytes(lacking)
        path.chmod(0o600)
        killed += struck(box, RESTORE, chance.uniform(0.0, undisturbed))
        gone += (away := not box.store_path().exists())
        lacked += (old := receipts(path) == set())
        torn += not (away or receipts(box.store_path()) == first["default"])
        torn += not (old or receipts(path) == first["other"])
    finished(box, RESTORE)
    assert (torn, receipts(box.store_path()), receipts(path)) == (0, *first.values())
    assert not [*box.data.rglob(".repair-*")]
    kept(
        f"{killed} kills of a restore, {gone} with a store still gone, {lacked} with one still lacking: {torn} neither"
    )


def finished(box, code):
    """Let a process come to its end; return the seconds it took once it was ready."""
    process = box.start(sys.executable, "-c", code, str(box.data))
    assert process.stdout.readline() == "ready\n"
    began = time.monotonic()
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (0, "")
    return time.monotonic() - began


def struck(box, code, delay):
    """Kill a process so many seconds after it was ready; return whether it was still at work."""
    process = box.start(sys.executable, "-c", code, str(box.data))
    assert process.stdout.readline() == "ready\n"
    with suppress(subprocess.TimeoutExpired):
        process.wait(delay)
    process.kill()
    _, err = process.communicate(timeout=PATIENCE)
    assert err == ""
    return process.returncode == -signal.SIGKILL


def drafts(box):
    """List what is not a backup yet."""
    return [path for path in (box.data / "backups").iterdir() if path.name.startswith(".")]


def receipts(path):
    """Return the notes that a store has dealt with, which must be sound."""
    assert rows(path, "PRAGMA integrity_check") == ["ok"]
    return set(rows(path, "SELECT note FROM receipt"))
