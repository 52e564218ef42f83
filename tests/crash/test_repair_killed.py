"""Repair killed, or met by one error, at any step it takes on disk, while notes come in and memories are forgotten.

Nothing acknowledged is lost, nothing forgotten comes back, and the next repair finishes.
"""

import json
import random
import select
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import PATIENCE, rows
from memman.govern.forget import forget
from memman.govern.stores import Chosen
from memman.model.errors import MemmanError
from memman.queue.schema import STEPS as QUEUE
from memman.recovery.check import troubles
from memman.store.sqlite.schema import STEPS as STORE

MEMORIES = 24
NOTES = 12


class Repairs:
    """The process that forks repairs; a context manager."""

    def __init__(self, box, queue):
        command = (sys.executable, str(Path(__file__).with_name("repair_child.py")))
        self.box, self.queue = box, queue
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=box.environ
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=PATIENCE)

    def run(self, kind="kill", at=0, meanwhile=lambda: None):
        """Repair, doing something `meanwhile` until it has ended; return its exit code and the steps it took."""
        self.process.stdin.write(json.dumps([str(self.box.data), self.queue, kind, at]) + "\n")
        self.process.stdin.flush()
        while not select.select([self.process.stdout], [], [], 0)[0]:
            meanwhile()
        return json.loads(self.process.stdout.readline())


class Meanwhile:
    """Another process's work on the folder: what it was told is done, it counts on."""

    def __init__(self, box, uids):
        self.box, self.said, self.gone, self.left = box, {}, [], uids

    def __call__(self):
        """Remember a note, and forget a memory if there is one left to forget."""
        text = f"Said meanwhile, number {len(self.said)}."
        self.said[self.box.remember(text)] = text
        if self.left:
            try:
                forget(Chosen(str(self.box.data), "default", ""), [self.left[0]])
                self.gone.append(self.left.pop(0))
            except MemmanError:
                self.left.pop(0)


@pytest.fixture
def damaged(box):
    """Give a box with memories and notes, one of each damaged, the rest of them in files and logs."""
    for n in range(MEMORIES):
        box.remember(f"Service {n} listens on port {8000 + n}.", session=f"session-{n // 6}")
    box.drain()
    for n in range(NOTES):
        box.remember(f"The queue {n} was slow.")
    box.queue("UPDATE note SET text = 'The queue 3 was fast.' WHERE text = 'The queue 3 was slow.'")
    box.store("UPDATE memory SET text = 'Service 3 listens on port 9003.' WHERE id = 4")
    return box


def struck(box, queue, steps_of, kind):
    """Strike repairs at some steps; return how often, how many acknowledged things there were, and what was lost."""
    template = box.data.with_name("template")
    shutil.copytree(box.data, template)
    notes = dict(box.queue("SELECT uid, text FROM note"))
    memories = box.store("SELECT uid FROM memory WHERE id <> 4 ORDER BY id")
    path, steps = (box.queue_path, QUEUE) if queue else (box.store_path(), STORE)
    struck, told, lost = 0, 0, []
    with Repairs(box, queue) as repairs:
        code, most = repairs.run(kind)
        assert code == 0
        for at in steps_of(most):
            shutil.rmtree(box.data)
            shutil.copytree(template, box.data)
            other = Meanwhile(box, [] if queue else memories[:3])
            code, _ = repairs.run(kind, at, other)
            struck += code != 0
            honest = code in {0, -signal.SIGKILL} if kind == "kill" else 0 <= code < 70 or code in {74, 75}
            assert honest, (kind, at, code)
            again = repairs.run()[0]
            assert (again, troubles(str(path), steps)) == (0, ""), (kind, at)
            assert not [*path.parent.glob(".repair-*")], (kind, at)
            found = dict(rows(box.queue_path, "SELECT uid, text FROM note"))
            kept_memories = dict(box.store("SELECT uid, status FROM memory"))
            expected = notes | other.said
            told += len(expected) + len(memories) + len(other.gone)
            lost += [(at, uid) for uid, text in expected.items() if found.get(uid) != text]
            lost += [(at, uid) for uid in memories if uid not in kept_memories]
            lost += [(at, uid) for uid in other.gone if kept_memories[uid] != "forgotten"]
            originals = [*path.parent.glob(path.name + ".damaged-*[0-9]Z")]
            assert originals, (kind, at)
            assert any(troubles(str(original), steps) for original in originals), (kind, at)
    return struck, told, lost


@pytest.mark.promise("R15")
@pytest.mark.parametrize("what", ["queue", "store"])
def test_a_repair_cut_short_loses_nothing_that_was_acknowledged(damaged, what, rounds, kept):
    """Cut short at any step beside remembers and forgets, a repair leaves the old or the new, and the next one ends."""
    chance = random.Random(what)
    sums = {}
    for kind, wanted in (("kill", rounds(10, 250)), ("error", rounds(4, 250))):

        def some(most, wanted=wanted):
            return sorted(chance.sample(range(1, most + 1), min(wanted, most)))

        sums[kind] = struck(damaged, what == "queue", some, kind)
        shutil.rmtree(damaged.data)
        damaged.data.with_name("template").rename(damaged.data)
    (kills, told, lost), (errors, more, also) = sums["kill"], sums["error"]
    assert lost + also == []
    assert kills
    assert errors
    kept(
        f"{kills} kills and {errors} errors amid repairs of the {what}: of {told + more} things acknowledged"
        f" {len(lost + also)} lost"
    )
