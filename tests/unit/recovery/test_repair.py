"""Damage to a first page, a schema or a whole file is said by all, nothing touches it, and repair mends it in place."""

from contextlib import closing

import apsw
import pytest

from memman.queue.append import append
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.recovery.check import troubles
from memman.recovery.copies import holding
from memman.recovery.repair import exchange, repair, repair_queue
from memman.sqlite import open_writer
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.store import SqliteStore
from tests.support.box import NOTE

NOTES = [f"The queue {n} was slow." for n in range(12)]
QUESTION = "which queue was slow"
# Place and new byte on the queue's first page: its schema's version, kind of file, magic, page size, kind of page.
SPOILT = [(63, 0), (63, 2), (63, max(QUEUE) + 1), (60, 128), (18, 3), (19, 3), (20, 8), (3, 0), (16, 0), (104, 0)]


@pytest.fixture
def waiting(box):
    """Give a box in which notes wait, all in the queue's one file."""
    for note in NOTES:
        box.remember(note)
    with closing(open_writer(str(box.queue_path), checked=False)) as db:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return box


@pytest.fixture
def stored(box):
    """Give a box whose store holds memories."""
    for note in NOTES:
        box.remember(note)
    box.drain()
    return box


def put(path, place, byte):
    """Write one byte of a file; return its content then."""
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([byte]))
    return path.read_bytes()


def refused(box, codes, *verbs):
    """Run `remember`, or other verbs, and a drain; each must end with one of these codes, and name what helps."""
    for args in verbs or (("remember", "One more."), ("scheduler", "drain")):
        said = box.memman(*args)
        assert said.returncode in codes, args
        assert said.returncode == 14 or "memman repair" in said.stderr or "memman doctor" in said.stderr
        assert len(said.stderr.splitlines()) == 1


@pytest.mark.parametrize(("place", "byte"), SPOILT)
def test_a_wrong_byte_of_the_first_page_wedges_no_queue(waiting, place, byte):
    """`remember` and drains end with 12 and name doctor or repair, which keeps every note, in the same file.

    A number that a newer memman may have written ends them with 14; doctor looks closer, and repair mends that, too.
    """
    spoilt, inode = put(waiting.queue_path, place, byte), waiting.queue_path.stat().st_ino
    refused(waiting, {14 if (place, byte) == (63, max(QUEUE) + 1) else 12})
    shown = waiting.memman("recall", QUESTION)
    assert "slow" in shown.stdout or shown.stderr
    assert "memman repair --queue" in waiting.memman("doctor").stdout
    done = repair_queue(str(waiting.data))
    with open(done.aside, "rb") as original:
        assert original.read() == spoilt
    assert waiting.states() == {"pending": done.kept} == {"pending": len(NOTES)}
    assert troubles(str(waiting.queue_path), QUEUE) == ""
    assert waiting.queue_path.stat().st_ino == inode
    waiting.remember("One more.")


@pytest.mark.parametrize(("place", "byte"), [(63, 0), (63, 1), (63, 2), (63, max(STORE) + 1)])
def test_a_wrong_byte_of_a_stores_version_is_damage(stored, place, byte):
    """Nothing is upgraded, doctor names repair, and repair keeps every memory."""
    put(stored.store_path(), place, byte)
    assert stored.memman("recall", QUESTION).stderr
    stored.remember("One more.")
    assert stored.memman("scheduler", "drain").returncode == 12
    assert "memman repair --store default" in stored.memman("doctor").stdout
    assert repair(str(stored.data), "default").kept == len(NOTES)
    assert troubles(str(stored.store_path()), STORE) == ""
    stored.drain()
    assert len(stored.store("SELECT id FROM memory")) == len(NOTES) + 1


def test_a_store_of_a_newer_version_is_not_repaired(stored):
    """Its columns may be others: it is left as it is, with a word to upgrade."""
    with closing(apsw.Connection(str(stored.store_path()))) as db:
        db.execute(f"ALTER TABLE memory RENAME COLUMN summary TO gist; PRAGMA user_version = {max(STORE) + 1}")
    done = stored.memman("repair", "--store", "default")
    assert (done.returncode, "upgrade memman" in done.stderr) == (14, True)
    assert len(stored.store("SELECT gist FROM memory")) == len(NOTES)


def test_a_changed_word_of_the_schema_is_damage(waiting):
    """A table whose words are not those of the schema is told of."""
    content = waiting.queue_path.read_bytes()
    waiting.queue_path.write_bytes(content.replace(b"attempts INTEGER NOT", b"attempts INTEGER NOW"))
    assert troubles(str(waiting.queue_path), QUEUE)
    assert repair_queue(str(waiting.data)).kept == len(NOTES)


def test_a_store_that_says_it_is_older_has_its_checksums_looked_at(stored):
    """With a wrong version and a changed text the text is not kept, and a record is said to be lost."""
    content = stored.store_path().read_bytes().replace(b"The queue 2 was slow", b"The queue 2 was fast")
    stored.store_path().write_bytes(content)
    put(stored.store_path(), 63, 1)
    done = repair(str(stored.data), "default")
    assert (done.kept, done.damaged, done.replaced) == (len(NOTES) - 1, 1, 0)
    assert not [text for text in stored.recall(QUESTION) if "fast" in text]


@pytest.mark.parametrize("gone", [False, True])
def test_a_full_log_beside_an_empty_queue_is_kept(box, gone):
    """`recall`, `remember`, a drain and doctor leave the log as it is and say so; repair takes every note from it."""
    for note in NOTES:
        box.remember(note)
    log = box.data / "queue.db-wal"
    content = log.read_bytes()
    box.queue_path.unlink() if gone else box.queue_path.write_bytes(b"")
    assert gone or "empty" in box.memman("recall", QUESTION).stderr
    refused(box, {12})
    assert gone or "memman repair --queue" in box.memman("doctor").stdout
    assert log.read_bytes() == content
    done = repair_queue(str(box.data))
    assert (done.kept, done.lost) == (len(NOTES), ())
    assert troubles(str(box.queue_path), QUEUE) == ""
    box.drain()
    assert box.states() == {"done": len(NOTES)}


def test_a_full_log_beside_an_empty_store_is_kept(stored):
    """What the log has of a store that is empty is saved, and recall says so before."""
    with closing(SqliteStore(str(stored.store_path()))) as store:
        store.db.execute("VACUUM")
        log = stored.store_path().with_name("memman.db-wal")
        content = log.read_bytes()
    stored.store_path().write_bytes(b"")
    log.write_bytes(content)
    refused(stored, {12}, ("recall", QUESTION))
    assert log.read_bytes() == content
    assert repair(str(stored.data), "default").kept == len(NOTES)


def test_a_store_emptied_or_gone_is_said(stored):
    """Recall and a drain end with 12 on an empty file that held memories; doctor warns of one that is gone."""
    stored.store_path().write_bytes(b"")
    stored.remember("One more.")
    refused(stored, {12}, ("recall", QUESTION))
    assert stored.memman("scheduler", "drain").returncode == 12
    assert stored.store_path().stat().st_size == 0
    assert stored.states() == {"done": len(NOTES), "pending": 1}
    stored.store_path().unlink()
    assert "the database of store 'default' is missing" in stored.memman("doctor").stdout


def test_a_store_that_was_only_begun_is_no_damage(box):
    """An empty file that nothing was ever stored in is filled by the next drain."""
    box.remember(NOTES[0])
    box.store_path().parent.mkdir(mode=0o700, parents=True)
    box.store_path().touch(mode=0o600)
    assert box.recall(QUESTION) == NOTES[:1]
    box.drain()
    assert box.states() == {"done": 1}


def test_what_a_killed_repair_left_is_named_and_swept(waiting):
    """A folder with copies is among the places that hold a note, and the next repair removes it."""
    uid = waiting.queue("SELECT uid FROM note")[0]
    place = waiting.data / ".repair-killed"
    place.mkdir(mode=0o700)
    (place / "read.db").write_bytes(waiting.queue_path.read_bytes())
    assert holding(str(waiting.data), [uid]) == ([], [str(place / "read.db")])
    assert repair_queue(str(waiting.data)).wrong == ""
    assert not place.exists()


def test_an_exchange_that_is_not_committed_changes_nothing(waiting, tmp_path):
    """Given up before its end, an exchange leaves file and log as they were, and writers go on."""
    open_queue(str(tmp_path / "new.db")).close()
    with exchange(str(waiting.queue_path), str(tmp_path)):
        pass
    append(str(waiting.data), NOTE | {"text": "It came after."})
    assert waiting.states() == {"pending": len(NOTES) + 1}
    assert (tmp_path / "damaged.db").stat().st_size == waiting.queue_path.stat().st_size
