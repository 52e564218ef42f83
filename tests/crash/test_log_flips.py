"""One byte of a write-ahead log changed behind memman's back: it is said, and nothing acknowledged is lost."""

import random
import shutil

import pytest

from memman.govern.repair import repair, repair_queue
from memman.govern.soundness import troubles
from memman.queue.schema import STEPS as QUEUE
from memman.store.sqlite.schema import STEPS
from memman.store.sqlite.store import SqliteStore

FACTS = [f"Service {n} listens on port {8000 + n}." for n in range(20)]


@pytest.fixture
def logged(box):
    """Give a box with all notes done and waiting again, a store with a log, and a copy of the whole."""
    for fact in FACTS:
        box.remember(fact)
    box.drain()
    for fact in FACTS:
        box.remember(fact)
    store = SqliteStore(str(box.store_path()))
    uids = box.store("SELECT uid FROM memory")
    for uid in uids:
        store.count_uses({uid: 1})
        shutil.copytree(box.data, box.data.with_name("sound"), dirs_exist_ok=True)
    store.close()
    return box


def flipped(box, path, chance):
    """Put everything back but for one byte of a database's log, anywhere, and return where."""
    shutil.rmtree(box.data)
    shutil.copytree(box.data.with_name("sound"), box.data)
    log = path.with_name(path.name + "-wal")
    wrong = bytearray(log.read_bytes())
    place = chance.randrange(len(wrong))
    wrong[place] ^= 1 << chance.randrange(8)
    log.write_bytes(wrong)
    return place


@pytest.mark.promise("R15")
@pytest.mark.parametrize("what", ["queue", "store"])
def test_no_flipped_byte_of_a_log_costs_what_was_acknowledged(logged, what, rounds, kept):
    """Wherever a log has one wrong byte, doctor tells or all is there; after a repair every note and memory is."""
    chance = random.Random(18)
    path, steps = (logged.queue_path, QUEUE) if what == "queue" else (logged.store_path(), STEPS)
    flips, told, silent, lost = rounds(20, 200), 0, [], []
    for _ in range(flips):
        place = flipped(logged, path, chance)
        told += bool(said := troubles(str(path), steps))
        done = repair_queue(str(logged.data)) if what == "queue" else repair(str(logged.data), "default")
        assert bool(done.wrong) == bool(said)
        if what == "queue":
            there = logged.queue("SELECT text FROM note WHERE state = 'pending'") == FACTS
        else:
            there = logged.store("SELECT count(*), sum(uses) FROM memory") == [(len(FACTS), len(FACTS))]
        if not there:
            (lost if said else silent).append(place)
        assert not troubles(str(path), steps)
    assert (silent, lost) == ([], [])
    kept(f"{flips} byte flips in a log of the {what}: {told} noticed, {len(silent) + len(lost)} cost anything")
