"""A byte changed on a first page is damage that all say, and repair mends: version, tables, kind of file."""

from contextlib import closing

import apsw
import pytest

from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.recovery.check import troubles
from memman.recovery.recover import recover, recover_queue
from memman.sqlite import open_writer
from memman.store.sqlite.schema import STEPS
from memman.store.sqlite.store import SqliteStore

NOTES = [f"The queue {n} was slow." for n in range(12)]
LUNCHES = [f"Lunch number {n} costs 100 euro." for n in range(3)]


def settle(path):
    """Move a database's log into its file."""
    with closing(open_writer(str(path), checked=path.name != "queue.db")) as db:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)


@pytest.fixture
def waiting(box):
    """Give a box in which notes wait, all in the queue's one file."""
    for note in NOTES:
        box.remember(note)
    settle(box.queue_path)
    return box


def put(path, place, byte):
    """Write one byte of a file."""
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([byte]))


@pytest.mark.parametrize(("place", "byte"), [(63, 0), (63, 2), (63, 6), (60, 128), (18, 3), (19, 3), (20, 8), (104, 0)])
def test_a_wrong_byte_of_the_version_wedges_no_queue(waiting, place, byte):
    """`remember` and drains end with 12 and name doctor or repair, which keeps every note; all goes on after that.

    A number that a newer memman may have written ends them with 14; doctor looks closer, and repair mends that, too.
    """
    put(waiting.queue_path, place, byte)
    for args in (("remember", "One more."), ("scheduler", "drain")):
        said = waiting.memman(*args)
        assert said.returncode == (14 if byte > len(QUEUE) and place == 63 else 12), args
        assert said.returncode == 14 or "memman repair" in said.stderr or "memman doctor" in said.stderr
        assert len(said.stderr.splitlines()) == 1
    shown = waiting.memman("recall", "which queue was slow")
    assert "slow" in shown.stdout or shown.stderr
    assert "memman repair --queue" in waiting.memman("doctor").stdout
    done = recover_queue(str(waiting.data))
    assert done.kept == len(NOTES)
    assert waiting.states() == {"pending": len(NOTES)}
    assert troubles(str(waiting.queue_path), QUEUE) == ""
    waiting.remember("One more.")


@pytest.mark.parametrize(("place", "byte"), [(63, 0), (63, 1), (63, 3)])
def test_a_wrong_byte_of_a_stores_version_is_damage(box, place, byte):
    """Nothing is upgraded, doctor names repair, and repair keeps every memory."""
    for note in NOTES[:3]:
        box.remember(note)
    box.drain()
    put(box.store_path(), place, byte)
    assert box.memman("recall", "which queue was slow").stderr
    box.remember("One more.")
    assert box.memman("scheduler", "drain").returncode == 12
    assert "memman repair --store default" in box.memman("doctor").stdout
    assert recover(str(box.data), "default").kept == 3
    assert troubles(str(box.store_path()), STEPS) == ""
    box.drain()
    assert len(box.store("SELECT id FROM memory")) == 4


def test_a_changed_word_of_the_schema_is_damage(waiting):
    """A table whose words are not those of the schema is told of."""
    content = waiting.queue_path.read_bytes()
    waiting.queue_path.write_bytes(content.replace(b"attempts INTEGER NOT", b"attempts INTEGER NOW"))
    assert troubles(str(waiting.queue_path), QUEUE)
    assert recover_queue(str(waiting.data)).kept == len(NOTES)


def test_each_older_schema_is_upgraded_and_none_is_damage(tmp_path):
    """A queue of any schema that was released is no damage, and is brought to the newest."""
    for version in range(1, len(QUEUE)):
        path = str(tmp_path / f"{version}" / "queue.db")
        with closing(open_writer(path, checked=False)) as db:
            db.execute("PRAGMA journal_mode=WAL").get  # noqa: B018 - it answers
            for step in QUEUE[:version]:
                db.execute(step)
            db.execute(f"PRAGMA user_version = {version}")
        assert troubles(path, QUEUE) == ""
        open_queue(path).close()
        assert troubles(path, QUEUE) == ""


def test_a_store_that_says_it_is_older_has_its_digests_looked_at(box):
    """With a wrong version and a changed text the text is not kept, and its memory is named as lost."""
    for note in LUNCHES:
        box.remember(note)
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory WHERE id = 3")
    SqliteStore(str(box.store_path())).close()
    content = bytearray(box.store_path().read_bytes().replace(b"Lunch number 2 costs 100", b"Lunch number 2 costs 900"))
    content[63] = 1
    box.store_path().write_bytes(content)
    done = recover(str(box.data), "default")
    assert (done.kept, done.lost) == (2, (uid,))
    assert not [text for text in box.recall("what does lunch cost") if "900" in text]
