"""A supersession that was wrong is taken back: what was superseded holds again, as it was."""

import json
from contextlib import closing

import pytest

from memman.store.sqlite import undo
from memman.store.sqlite.store import open_store

OLD, NEW = "We deploy on Vercel.", "We moved from Vercel to Coolify."
COLUMNS = "uid, status, superseded_by, valid_from, valid_to, recorded_at, retired_at, source, origin, note"
STATE = f"SELECT {COLUMNS} FROM memory"


@pytest.fixture(name="uids")
def _uids(box):
    """Give the uids of a memory and of what took its place, and what the first was before."""
    box.remember(OLD, agent="tester", session="s1")
    box.drain()
    before = box.store(STATE)[0]
    box.remember(NEW)
    box.drain()
    old, new = box.store("SELECT uid FROM memory ORDER BY id")
    assert box.store("SELECT status FROM memory ORDER BY id") == ["superseded", "current"]
    return old, new, before


def test_a_reinstated_memory_is_as_it_was_and_recalled(box, uids):
    """It holds again with its dates, its source and its origin, and recall shows it, and what took its place too."""
    old, new, before = uids
    assert OLD not in box.recall("Vercel deploy")
    done = box.memman("insights", "reinstate", old[:8])
    assert (done.returncode, done.stderr) == (0, "")
    assert "current again" in done.stdout
    assert f"{new[:8]}, which had replaced it, is kept too" in done.stdout
    assert box.store(STATE)[0] == before
    assert {OLD, NEW} <= set(box.recall("Vercel deploy"))
    assert OLD in box.memman("list").stdout
    assert json.loads(box.memman("show", "--json", old).stdout)[0]["superseded_by"] is None
    first, second = json.loads(box.memman("show", "--json", old).stdout)[0]["history"]
    assert [line["verb"] for line in first["changes"]] == ["add", "supersede", "reinstate"]
    assert (first["status"], second["uid"], second["status"]) == ("current", new, "current")
    assert box.memman("doctor", "--check", "integrity").returncode == 0


def test_it_is_logged_and_can_be_undone(box, uids):
    """An undo of what was done since closes the old one as it was; twice changes nothing."""
    old, *_ = uids
    closed = box.store(STATE)[0]
    for said in ("current again", "not superseded"):
        assert said in box.memman("insights", "reinstate", old).stdout
    assert box.store("SELECT verb FROM log WHERE memory = ? ORDER BY id", old) == ["add", "supersede", "reinstate"]
    (at,) = box.store("SELECT at FROM log WHERE verb = 'reinstate'")
    with closing(open_store(str(box.data), "default")) as store:
        acts = undo.since(store.db, at)
        with store.unit() as unit:
            undo.take_back(unit, acts, at + 1, "test")
    assert box.store(STATE)[0] == closed
    assert OLD not in box.recall("Vercel deploy")


def test_forgetting_what_took_the_place_says_how_to_go_back(box, uids):
    """`forget` of the newer one names the command that puts the older in force, and it does."""
    old, new, _ = uids
    command = box.memman("forget", new).stdout.splitlines()[-1].partition(": memman ")[2]
    assert command == f"insights reinstate {old[:8]}"
    assert box.memman(*command.split()).returncode == 0
    assert box.recall("Vercel deploy") == [OLD]


def test_one_in_a_chain_comes_back_alone(box, uids):
    """Of three the first comes back: the second stays superseded by the third, and both ends hold."""
    old, new, _ = uids
    box.memman("replace", new, "We deploy on Fly.")
    box.drain()
    box.memman("insights", "reinstate", old)
    assert box.store("SELECT status FROM memory ORDER BY id") == ["current", "superseded", "current"]


def test_a_waiting_note_was_superseded_by_nothing(box):
    """A note that waits is named as one."""
    note = box.remember(OLD)
    done = box.memman("insights", "reinstate", note)
    assert (done.returncode, "still in the queue" in done.stderr) == (3, True)
