"""Repair takes a store's memories for sound by their digests alone, whatever the file says of its schema."""

from memman.govern.repair import repair
from memman.store.sqlite.store import SqliteStore

NOTES = [f"Lunch number {n} costs 100 euro." for n in range(3)]


def test_a_store_that_says_it_is_older_has_its_digests_looked_at(box):
    """With a wrong version and a changed text the text is not kept, and its memory is named as lost."""
    for note in NOTES:
        box.remember(note)
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory WHERE id = 3")
    SqliteStore(str(box.store_path())).close()
    content = bytearray(box.store_path().read_bytes().replace(b"Lunch number 2 costs 100", b"Lunch number 2 costs 900"))
    content[63] = 1
    box.store_path().write_bytes(content)
    done = repair(str(box.data), "default")
    assert (done.kept, done.lost) == (2, (uid,))
    assert not [text for text in box.recall("what does lunch cost") if "900" in text]
