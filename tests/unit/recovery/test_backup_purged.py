"""What was purged stays away from every store that a restore makes, wherever another copy of it lies."""

import shutil

import pytest

from memman.commands.forget import forgotten as forget
from memman.commands.place import Place
from memman.config.purged import WHOLE, bury
from memman.recovery.backup import take
from memman.recovery.purge import purge
from memman.recovery.restore import restore
from tests.support.box import Box

TEXT = "The bdfgkmnprtvz service caches invoices."


@pytest.fixture
def place(box):
    """Give a store with a backup from before the note that is forgotten in it."""
    where = Place(str(box.data), "default", "default")
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


def test_what_was_purged_stays_away_by_its_words(box, place):
    """No store that is made again has it, neither from another note that said so nor from one that waited."""
    first, twin = box.remember(TEXT), box.remember(TEXT.replace(".", "!"))
    box.remember("Redis caches the sessions.", store="other")
    box.remember(TEXT, store="other")
    box.drain()
    waited = box.remember(TEXT.upper())
    made = take(place.data)
    box.drain()
    both = [first, twin, waited]
    (memory,) = box.store("SELECT uid FROM memory WHERE note = ?", first)
    purge(place.data, "default", [memory])
    for name in ("default", "other"):
        shutil.rmtree(box.store_path(name).parent)
    told = {one.store: one for one in restore(place.data, made.id)}
    box.drain()
    assert box.store("SELECT text FROM memory") == ["Vite builds the frontend."]
    assert box.store("SELECT text FROM memory", name="other") == ["Redis caches the sessions."]
    assert (told["default"].purged, told["other"].purged, told["default"].waiting) == (1, 1, 0)
    assert not [note for note in both if note in box.store("SELECT note FROM memory")]


def test_what_a_person_kept_or_said_again_is_restored(box, place):
    """Another memory of the same words that outlived the purge comes back, and so does what was said again since."""
    uid = forgotten(box, place)
    purge(place.data, "default", [uid])
    made = take(place.data)
    box.memman("remember", TEXT)
    box.drain()
    again = take(place.data)
    (other,) = box.store("SELECT uid FROM memory WHERE status = 'current' AND text = ?", TEXT)
    restore(place.data, made.id)
    (told,) = restore(place.data, again.id)
    assert told.purged == 0
    assert box.store("SELECT uid FROM memory WHERE text = ?", TEXT) == [other]


def test_a_backup_keeps_purged_texts_away_from_another_data_folder(box, place, tmp_path):
    """There what was purged before it was taken comes back by no note of an agent, and the list of ids is there."""
    uid = forgotten(box, place)
    purge(place.data, "default", [uid])
    made = take(place.data)
    fresh = Box(tmp_path / "fresh", box.environ | {"MEMMAN_DATA_DIR": str(tmp_path / "fresh")})
    shutil.copytree(box.data / "backups" / made.id, fresh.data / "backups" / made.id)
    restore(str(fresh.data), made.id)
    for name in ("purged", "purged.key", "purged.texts"):
        assert (fresh.data / name).read_text() == (box.data / name).read_text()
        assert (fresh.data / name).stat().st_mode & 0o777 == 0o600
    fresh.memman("remember", "--source", "file", TEXT)
    fresh.memman("remember", "Rollbacks are done by hand.")
    assert fresh.memman("scheduler", "drain").returncode == 0
    assert fresh.store("SELECT text FROM memory") == ["Vite builds the frontend.", "Rollbacks are done by hand."]


@pytest.mark.parametrize("whole", [True, False])
def test_a_store_that_is_made_again_lacks_what_has_a_tombstone(box, place, whole):
    """Of a chain of three, all forgotten, the middle is left out, and what it had replaced stays out of force."""
    first = box.remember("The limit is one.")
    box.drain()
    second = box.remember(TEXT, replaces=first)
    box.drain()
    forgotten(box, place, "The limit is three.", replaces=second)
    (memory,) = box.store("SELECT uid FROM memory WHERE note = ?", second)
    take(place.data)
    bury(place.data, [(second, WHOLE if whole else memory)], 0)
    shutil.rmtree(box.store_path().parent)
    (told,) = restore(place.data, "latest")
    assert told.purged == 1
    assert box.store("SELECT text, status FROM memory ORDER BY id") == [
        ("Vite builds the frontend.", "current"),
        ("The limit is one.", "superseded"),
        ("The limit is three.", "forgotten"),
    ]
    assert b"bdfgkmnprtvz" not in b"".join(path.read_bytes() for path in box.store_path().parent.iterdir())
