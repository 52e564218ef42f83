"""A memory that a person wants kept stays, whatever a drain concludes."""

import json

import pytest

OLD, NEW = "We deploy on Vercel.", "We moved from Vercel to Coolify."


@pytest.fixture(name="uid")
def _uid(box):
    """Give the uid of the one memory in the store."""
    box.remember(OLD)
    box.drain()
    return box.store("SELECT uid FROM memory")[0]


def statuses(box):
    """Return the memories' texts and statuses."""
    return dict(box.store("SELECT text, status FROM memory"))


def test_a_protected_memory_is_not_retired_by_a_drain(box, uid):
    """What would supersede it is stored beside it; without protection it would have taken its place."""
    assert box.memman("insights", "protect", uid[:8]).returncode == 0
    box.remember(NEW)
    box.drain()
    assert statuses(box) == {OLD: "current", NEW: "current"}


def test_protection_can_be_taken_back(box, uid):
    """Protected no longer, it gives way again."""
    box.memman("insights", "protect", uid)
    box.memman("insights", "protect", "--undo", uid)
    box.remember(NEW)
    box.drain()
    assert statuses(box) == {OLD: "superseded", NEW: "current"}


def test_a_person_may_still_replace_and_forget(box, uid):
    """Protection binds the drain, not those who name the memory."""
    box.memman("insights", "protect", uid)
    box.memman("replace", uid, "We deploy on Fly.")
    box.drain()
    assert statuses(box)[OLD] == "superseded"
    assert box.memman("forget", uid).returncode == 0
    assert statuses(box)[OLD] == "forgotten"


def test_it_is_shown_and_logged_once(box, uid):
    """`insights show` says since when, the log has a line each way, and doing it twice changes nothing."""
    for _ in range(2):
        box.memman("insights", "protect", uid)
    assert "already protected" in box.memman("insights", "protect", uid).stdout
    shown = json.loads(box.memman("show", "--json", uid).stdout)[0]
    assert shown["protected"] > 0
    assert box.store("SELECT count(*) FROM log WHERE verb = 'protect'") == [1]


def test_a_waiting_note_cannot_be_protected_yet(box):
    """There is no memory before the drain."""
    note = box.remember("We deploy on Nomad.")
    done = box.memman("insights", "protect", note)
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)


def test_a_stopped_scheduler_refuses(box, uid):
    """Stopped means that memory is only read."""
    box.memman("scheduler", "stop")
    done = box.memman("insights", "protect", uid)
    assert done.returncode == 69
    assert "cannot insights protect: the scheduler is stopped" in done.stderr
