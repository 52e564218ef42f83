"""Repair of what no tree leads to any more, of headers, and after repairs that never came to an end."""

import pytest

from conftest import NOTE
from memman.queue.append import append
from memman.queue.schema import STEPS, open_queue
from memman.recovery.check import troubles
from memman.recovery.copies import holding
from memman.recovery.exchange import exchange
from memman.recovery.recover import recover_queue

NOTES = [f"The queue {n} was slow." for n in range(20)]
# Magic, page size, versions, reserved bytes, fractions of a page, format of the schema, encoding.
HEADER = (3, 16, 17, 18, 19, 20, 21, 22, 23, 47, 59)


@pytest.fixture
def waiting(box):
    """Give a box in which notes wait, all in the queue's one file."""
    for note in NOTES:
        box.remember(note)
    box.queue("PRAGMA wal_checkpoint(TRUNCATE)")
    return box


@pytest.mark.parametrize("logged", [True, False])
def test_one_byte_of_the_queues_header_costs_no_note(waiting, logged):
    """Whichever byte of the header is wrong, with notes in the log or none, it keeps every note, in the same file."""
    if logged:
        waiting.remember("It came after the checkpoint.")
    files = {name: name.read_bytes() for name in waiting.data.glob("queue.db*")}
    found = 0
    for place in HEADER:
        for name, content in files.items():
            name.write_bytes(content)
        spoiled = bytearray(files[waiting.queue_path])
        spoiled[place] ^= 0x44
        waiting.queue_path.write_bytes(spoiled)
        inode = waiting.queue_path.stat().st_ino
        done = recover_queue(str(waiting.data))
        found += bool(done.wrong)
        assert done.kept == len(NOTES) + logged or not done.wrong, place
        assert troubles(str(waiting.queue_path), STEPS) == "", place
        assert waiting.states() == {"pending": len(NOTES) + logged}, place
        assert waiting.queue_path.stat().st_ino == inode
        if done.wrong:
            with open(done.aside, "rb") as original:
                assert original.read() == spoiled
    assert found > len(HEADER) // 2


def test_what_a_killed_repair_left_is_named_and_swept(waiting):
    """A folder with copies is among the places that hold a note, and the next repair removes it."""
    uid = waiting.queue("SELECT uid FROM note")[0]
    place = waiting.data / ".repair-killed"
    place.mkdir(mode=0o700)
    (place / "read.db").write_bytes(waiting.queue_path.read_bytes())
    assert holding(str(waiting.data), [uid]) == ([], [str(place / "read.db")])
    assert recover_queue(str(waiting.data)).wrong == ""
    assert not place.exists()


def test_an_exchange_that_is_not_committed_changes_nothing(waiting, tmp_path):
    """Given up before its end, an exchange leaves file and log as they were, and writers go on."""
    open_queue(str(tmp_path / "new.db")).close()
    with exchange(str(waiting.queue_path), str(tmp_path / "new.db")) as old:
        old.copy(str(tmp_path / "copy.db"))
    append(str(waiting.data), NOTE | {"text": "It came after."})
    assert waiting.states() == {"pending": len(NOTES) + 1}
    assert (tmp_path / "copy.db").stat().st_size == waiting.queue_path.stat().st_size
