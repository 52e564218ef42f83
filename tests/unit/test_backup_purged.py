"""What was purged stays away from every store that a restore makes, wherever another copy of it lies."""

import shutil

import pytest

from memman.govern import stores
from memman.govern.forget import forget
from memman.govern.stores import Chosen
from memman.recovery.backup import take
from memman.recovery.purge import purge
from memman.recovery.restore import restore
from memman.recovery.tombstones import WHOLE, bury

TEXT = "The bdfgkmnprtvz service caches invoices."


@pytest.fixture
def place(box):
    """Give a store with a backup from before the note that is forgotten in it."""
    where = Chosen(str(box.data), "default", "default")
    box.remember("Vite builds the frontend.")
    box.drain()
    take(where.data)
    return where


def forgotten(box, place, text=TEXT, **columns):
    """Store a note and forget it; return its uid."""
    uid = box.remember(text, **columns)
    box.drain()
    forget(place, [uid])
    return uid


def removed(place):
    """Move the store aside."""
    return stores.remove(place.data, stores.stakes(place.data, place.name))


def test_a_store_that_was_moved_aside_brings_nothing_back_that_was_purged(box, place):
    """What another copy of it holds as forgotten is neither in the restored store nor in a byte of its file."""
    uid = forgotten(box, place)
    aside = removed(place)
    restore(place.data, "latest")
    assert box.store("SELECT status FROM memory WHERE note = ?", uid) == ["forgotten"]
    assert purge(str(box.data), "default", [uid]).files == [f"{aside}/memman.db"]
    shutil.rmtree(box.store_path().parent)
    (told,) = restore(place.data, "latest")
    assert (told.forgotten, told.memories, told.purged) == (0, 1, 1)
    assert box.store("SELECT text FROM memory") == ["Vite builds the frontend."]
    assert b"bdfgkmnprtvz" not in b"".join(path.read_bytes() for path in box.store_path().parent.iterdir())


@pytest.mark.parametrize("whole", [True, False])
def test_a_purge_that_was_killed_after_its_tombstone_is_made_good_by_a_restore(box, place, whole):
    """Of a chain of three, all forgotten, the middle is left out, and what it had replaced stays out of force."""
    first = box.remember("The limit is one.")
    box.drain()
    second = box.remember(TEXT, replaces=first)
    box.drain()
    forgotten(box, place, "The limit is three.", replaces=second)
    (memory,) = box.store("SELECT uid FROM memory WHERE note = ?", second)
    bury(place.data, [(second, WHOLE if whole else memory)], 0)
    (told,) = restore(place.data, "latest")
    assert (told.forgotten, told.purged) == (1, 1)
    assert box.store("SELECT text, status FROM memory ORDER BY id") == [
        ("Vite builds the frontend.", "current"),
        ("The limit is one.", "superseded"),
        ("The limit is three.", "forgotten"),
    ]
    assert b"bdfgkmnprtvz" not in b"".join(path.read_bytes() for path in box.store_path().parent.iterdir())
