"""Repair killed, or met by one error, at any step it takes on disk, while notes come in and memories are forgotten.

Nothing acknowledged is lost, nothing forgotten comes back, and the next repair finishes.
"""

import random
import shutil
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from memman.commands.forget import forgotten as forget
from memman.commands.place import Place
from memman.model.errors import MemmanError
from memman.queue.schema import STEPS as QUEUE
from memman.recovery.check import troubles
from memman.store.sqlite.schema import STEPS as STORE
from tests.support.box import rows
from tests.support.forks import Forks

MEMORIES = 24
NOTES = 12


class Meanwhile:
    """Another process's work on the folder: what it was told is done, it counts on."""

    def __init__(self, box, uids):
        self.box, self.said, self.gone, self.left = box, {}, [], uids

    def go_on(self):
        """Remember a note, and forget a memory if there is one left to forget."""
        text = f"Said meanwhile, number {len(self.said)}."
        self.said[self.box.remember(text)] = text
        if self.left:
            try:
                forget(Place(str(self.box.data), "default", ""), [self.left[0]])
                self.gone.append(self.left.pop(0))
            except MemmanError:
                self.left.pop(0)


class Repairs:
    """Repairs of one of a box's databases, each struck at a step; `lost` are the acknowledged things that are gone."""

    def __init__(self, box, what, forks):
        self.box, self.what, self.forks = box, what, forks
        self.path, self.steps = (box.queue_path, QUEUE) if what == "queue" else (box.store_path(), STORE)
        self.template = box.data.with_name("template")
        shutil.copytree(box.data, self.template)
        self.notes = dict(box.queue("SELECT uid, text FROM note"))
        self.memories = box.store("SELECT uid FROM memory WHERE id <> 4 ORDER BY id")
        self.told, self.lost = 0, []

    def run(self, errors="kill", at=0):
        """Repair, as the verb does once a person has agreed."""
        name, args = ("repair_queue", ()) if self.what == "queue" else ("repair", ("default",))
        call = f"memman.recovery.repair:{name}"
        return self.forks.run((str(self.box.data), *args), self.box.data, call=call, errors=errors, at=at)

    def strike(self, errors, wanted, chance):
        """Strike repairs at some steps, each in a copy of the folder; return how many that ended or failed."""
        struck, most = 0, self.run(errors).seen
        for at in sorted(chance.sample(range(1, most + 1), min(wanted, most))):
            self._renew()
            other = Meanwhile(self.box, [] if self.what == "queue" else self.memories[:3])
            with ThreadPoolExecutor(1) as pool:
                repair = pool.submit(self.run, errors, at)
                while not repair.done():
                    other.go_on()
            code = repair.result().code
            struck += code != 0
            honest = code in {0, -signal.SIGKILL} if errors == "kill" else 0 <= code < 70 or code in {74, 75}
            assert honest, (errors, at, code)
            assert (self.run().code, troubles(str(self.path), self.steps)) == (0, ""), (errors, at)
            self._look(other)
        self._renew()
        return struck

    def _renew(self):
        shutil.rmtree(self.box.data)
        shutil.copytree(self.template, self.box.data)

    def _look(self, other):
        """See whether everything is there, and the damaged file beside it."""
        assert not [*self.path.parent.glob(".repair-*")]
        found = dict(rows(self.box.queue_path, "SELECT uid, text FROM note"))
        states = dict(self.box.store("SELECT uid, status FROM memory"))
        expected = self.notes | other.said
        self.told += len(expected) + len(self.memories) + len(other.gone)
        self.lost += [uid for uid, text in expected.items() if found.get(uid) != text]
        self.lost += [uid for uid in self.memories if uid not in states]
        self.lost += [uid for uid in other.gone if states[uid] != "forgotten"]
        originals = [*self.path.parent.glob(self.path.name + ".damaged-*[0-9]Z")]
        assert any(troubles(str(original), self.steps) for original in originals)


@pytest.fixture
def damaged(box):
    """Give a box with memories and notes, one of each damaged, the rest of them in files and logs."""
    for n in range(MEMORIES):
        box.remember(f"Service {n} listens on port {8000 + n}.", session=f"session-{n // 6}")
    box.drain()
    for n in range(NOTES):
        box.remember(f"The queue {n} was slow.")
    box.queue("DROP INDEX note_newest")
    box.store("UPDATE record SET body = replace(body, 'port 8003', 'port 9003')")
    return box


@pytest.mark.slow
@pytest.mark.promise("R15")
@pytest.mark.parametrize("what", ["queue", "store"])
def test_a_repair_cut_short_loses_nothing_that_was_acknowledged(damaged, what, rounds, kept):
    """Cut short at any step beside remembers and forgets, a repair leaves the old or the new, and the next one ends."""
    with Forks() as forks:
        repairs, chance = Repairs(damaged, what, forks), random.Random(what)
        kills = repairs.strike("kill", rounds(5, 250), chance)
        errors = repairs.strike("io", rounds(4, 250), chance)
    assert repairs.lost == []
    assert kills
    assert errors
    kept(
        f"{kills} kills and {errors} errors amid repairs of the {what}: of {repairs.told} things acknowledged"
        f" {len(repairs.lost)} lost"
    )
