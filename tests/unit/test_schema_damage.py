"""A byte changed on a first page is damage that all say, and repair mends: version, tables, kind of file."""

from contextlib import closing

import apsw
import pytest

from memman.govern.repair import repair, repair_queue
from memman.govern.soundness import troubles
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.sqlite import open_writer
from memman.store.sqlite.schema import STEPS

NOTES = [f"The queue {n} was slow." for n in range(12)]


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
    assert not list(waiting.data.glob("queue.db.schema*"))
    done = repair_queue(str(waiting.data))
    assert done.kept == len(NOTES)
    assert waiting.states() == {"pending": len(NOTES)}
    assert troubles(str(waiting.queue_path), QUEUE) == ""
    waiting.remember("One more.")


@pytest.mark.parametrize(("place", "byte"), [(63, 0), (63, 1), (63, 2), (63, len(STEPS) + 1)])
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
    assert repair(str(box.data), "default").kept == 3
    assert troubles(str(box.store_path()), STEPS) == ""
    box.drain()
    assert len(box.store("SELECT id FROM memory")) == 4


def test_a_changed_word_of_the_schema_is_damage(waiting):
    """A table whose words are not those of the schema is told of."""
    content = waiting.queue_path.read_bytes()
    waiting.queue_path.write_bytes(content.replace(b"attempts INTEGER NOT", b"attempts INTEGER NOW"))
    assert troubles(str(waiting.queue_path), QUEUE)
    assert repair_queue(str(waiting.data)).kept == len(NOTES)


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
