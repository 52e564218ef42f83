"""A database emptied, or taken away, while its log is full: all say so, nothing touches the log, repair takes it."""

import pytest

from memman.queue.schema import STEPS as QUEUE
from memman.recovery.check import troubles
from memman.recovery.recover import recover, recover_queue
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.store import SqliteStore

NOTES = [f"The queue {n} was slow." for n in range(8)]


@pytest.mark.parametrize("gone", [False, True])
def test_a_full_log_beside_an_empty_queue_is_kept(box, gone):
    """`recall`, `remember`, a drain and doctor leave the log as it is and say so; repair takes every note from it."""
    for note in NOTES:
        box.remember(note)
    log = box.data / "queue.db-wal"
    content = log.read_bytes()
    box.queue_path.unlink() if gone else box.queue_path.write_bytes(b"")
    shown = box.memman("recall", "which queue was slow")
    assert gone or "empty" in shown.stderr
    for args in (("remember", "One more."), ("scheduler", "drain")):
        said = box.memman(*args)
        assert said.returncode == 12, args
        assert "memman doctor" in said.stderr
    assert gone or "memman repair --queue" in box.memman("doctor").stdout
    assert log.read_bytes() == content
    done = recover_queue(str(box.data))
    assert (done.kept, done.lost, done.doubtful) == (len(NOTES), (), ())
    assert troubles(str(box.queue_path), QUEUE) == ""
    box.drain()
    assert box.states() == {"done": len(NOTES)}


def test_a_full_log_beside_an_empty_store_is_kept(box):
    """Recall says so, and a repair leaves the log as it is beside what it makes anew."""
    for note in NOTES:
        box.remember(note)
    box.drain()
    store = SqliteStore(str(box.store_path()))
    store.db.execute("UPDATE memory SET uses = uses + 1")
    log = box.store_path().with_name("memman.db-wal")
    content = log.read_bytes()
    store.close()
    box.store_path().write_bytes(b"")
    log.write_bytes(content)
    assert box.memman("recall", "which queue was slow").returncode == 12
    assert log.read_bytes() == content
    with open(recover(str(box.data), "default").aside + "-wal", "rb") as aside:
        assert aside.read() == content
    assert troubles(str(box.store_path()), STORE) == ""


def test_a_store_emptied_or_gone_is_said(box):
    """Recall and a drain end with 12 on an empty file that held memories; doctor warns of one that is gone."""
    box.remember(NOTES[0])
    box.drain()
    box.store_path().write_bytes(b"")
    box.remember(NOTES[1])
    said = box.memman("recall", "which queue was slow")
    assert (said.returncode, said.stdout) == (12, "")
    assert "memman repair --store default" in said.stderr
    assert box.memman("scheduler", "drain").returncode == 12
    assert box.store_path().stat().st_size == 0
    assert box.states() == {"done": 1, "pending": 1}
    box.store_path().unlink()
    assert "the database of store 'default' is missing" in box.memman("doctor").stdout


def test_a_store_that_was_only_begun_is_no_damage(box):
    """An empty file that nothing was ever stored in is filled by the next drain."""
    box.remember(NOTES[0])
    box.store_path().parent.mkdir(mode=0o700, parents=True)
    box.store_path().touch(mode=0o600)
    assert box.recall("which queue was slow") == NOTES[:1]
    box.drain()
    assert box.states() == {"done": 1}
