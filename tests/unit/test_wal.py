"""A changed byte of a log is found wherever it is, and put right; what a power cut leaves is no damage."""

import os
import random
import shutil
from threading import Timer

import apsw
import pytest

from memman.govern.repair import repair, repair_queue
from memman.govern.soundness import troubles
from memman.model.errors import DamagedFile
from memman.queue.schema import STEPS as QUEUE
from memman.sqlite import log_damage
from memman.store.sqlite.store import SqliteStore
from memman.wal import FRAME, HEADER, frames, mended

NOTES = [f"The queue {n} was slow." for n in range(8)]


@pytest.fixture
def log(box):
    """Give a box in which notes wait, all of them in the queue's log, and the path of that."""
    for note in NOTES:
        box.remember(note)
    return box.data / "queue.db-wal"


def test_each_byte_of_a_log_is_put_right(log):
    """Whichever byte is changed, of header, frame or page, the log is whole again, nearly always as it was."""
    right, chance = log.read_bytes(), random.Random(3)
    last = frames(right)[-1]
    places = [*range(HEADER + 24), *range(last, last + 24), *chance.sample(range(len(right)), 60)]
    unlike = 0
    for place in places:
        wrong = bytearray(right)
        wrong[place] ^= chance.randrange(1, 256)
        found = mended(bytes(wrong))
        unlike += found != right
        assert found != wrong, place
        assert mended(found) == found, place
        assert changed(found, right) <= 1, place
    assert unlike < len(places) / 20
    assert mended(right) == right


def changed(log, other):
    """Count the bytes in which the pages of two logs differ."""
    return sum(log[n + m] != other[n + m] for n in frames(log) for m in range(24, FRAME))


def test_what_a_power_cut_leaves_of_a_log_is_left_alone(log):
    """A page torn or lost, a header that is rubbish, and a log cut short are as SQLite takes them."""
    right, chance = log.read_bytes(), random.Random(4)
    middle = frames(right)[len(frames(right)) // 2]
    torn = right[: middle + 536] + chance.randbytes(512) + right[middle + 1048 :]
    lost = right[:middle] + bytes(FRAME) + right[middle + FRAME :]
    rubbish = chance.randbytes(512) + right[512:]
    for left in (torn, lost, rubbish, right[: middle + 99], right[:20], b""):
        assert mended(left) == left


def test_a_log_is_looked_at_while_somebody_writes_its_index(log):
    """Its index is unreadable for the moment in which a writer writes it: the look waits for that to be over."""
    path = str(log).removesuffix("-wal")
    looks, writes = apsw.Connection(path), apsw.Connection(path)
    looks.execute("SELECT count(*) FROM sqlite_master").get  # noqa: B018
    writes.execute("BEGIN IMMEDIATE")
    index = os.open(path + "-shm", os.O_RDWR)
    header = os.pread(index, 48, 0)
    os.pwrite(index, bytes(48), 0)
    over = Timer(0.3, lambda: (os.pwrite(index, header, 0), writes.execute("ROLLBACK")))
    over.start()
    try:
        assert log_damage(looks, path) == ""
    finally:
        over.join()
        os.close(index)


def test_a_changed_byte_in_the_queues_log_is_said_and_costs_no_note(log, box):
    """`remember`, a drain and doctor say so and leave it alone; repair keeps every note, and all are stored."""
    wrong = bytearray(log.read_bytes())
    wrong[HEADER + 30 * FRAME + 300] ^= 4
    log.write_bytes(wrong)
    for args in (("remember", "One more."), ("scheduler", "drain")):
        said = box.memman(*args)
        assert said.returncode == 12, args
        assert "memman repair --queue" in said.stderr
    assert "memman repair --queue" in box.memman("doctor").stdout
    assert log.read_bytes() == wrong
    done = repair_queue(str(box.data))
    assert (done.kept, done.doubtful) == (len(NOTES), ())
    with open(done.aside + "-wal", "rb") as aside:
        assert aside.read() == wrong
    assert troubles(str(box.queue_path), QUEUE) == ""
    box.drain()
    assert box.states() == {"done": len(NOTES)}
    assert len(box.store("SELECT text FROM memory")) == len(NOTES)


def test_a_changed_byte_in_a_stores_log_costs_no_memory(box):
    """What a killed drain left in a store's log is said to be damaged, and repaired to the last memory."""
    for note in NOTES:
        box.remember(note)
    box.drain()
    store = SqliteStore(str(box.store_path()))
    store.db.execute("UPDATE memory SET uses = uses + 1")
    store.db.execute("INSERT INTO log(at, verb, memory) VALUES (1, 'update', 'x')")
    kept = [shutil.copy(f"{box.store_path()}{end}", box.data / f"kept{end}") for end in ("", "-wal")]
    store.close()
    for end in ("-wal", "-shm"):
        box.store_path().with_name("memman.db" + end).unlink(missing_ok=True)
    shutil.copy(kept[0], box.store_path())
    wrong = bytearray(kept[1].read_bytes())
    wrong[HEADER + 300] ^= 4
    log = box.store_path().with_name("memman.db-wal")
    log.write_bytes(wrong)
    with pytest.raises(DamagedFile, match="memman repair --store default"):
        SqliteStore(str(box.store_path()))
    assert log.read_bytes() == wrong
    done = repair(str(box.data), "default")
    assert (done.kept, done.lost) == (len(NOTES), ())
    assert box.store("SELECT DISTINCT uses FROM memory") == [1]
    assert box.store("SELECT count(*) FROM log WHERE memory = 'x'") == [1]


def test_what_comes_after_a_lost_sector_is_saved_by_its_digest(log, box):
    """SQLite sees nothing after it, but a repair finds the notes that were written later on the pages themselves."""
    wrong = bytearray(log.read_bytes())
    middle = frames(wrong)[len(frames(wrong)) // 2] + 1024
    wrong[middle : middle + 512] = random.Random(5).randbytes(512)
    assert mended(bytes(wrong)) == wrong
    log.write_bytes(wrong)
    box.queue_path.write_bytes(b"")
    done = repair_queue(str(box.data))
    assert done.kept >= len(NOTES) - 1
    assert set(box.queue("SELECT text FROM note WHERE state = 'pending'")) <= {*NOTES}
