"""What a judge is unsure of: the older memory stays, marked as maybe replaced, until that is settled or void."""

import json
import shutil

import pytest

from memman.commands.graph import rebuild
from memman.commands.place import Place
from memman.model.records import Candidate, Fact
from memman.pipeline.reconcile import MAX_MAYBES, _verdicts
from memman.recovery.backup import take
from tests.support.backup_calls import restored
from tests.support.doubts import NEW, OLD, drained, judging, marks
from tests.support.providers import Act, ScriptedProvider


@pytest.fixture
def pair(box):
    """Give a box with an older memory that is maybe replaced, and the uids of both."""
    return box, *drained(box, OLD, NEW)


def statuses(box):
    """Return the memories' texts and statuses."""
    return dict(box.store("SELECT text, status FROM memory"))


# --- the verdict ---


def kept(*told, facts=2, memories=8):
    """Return what is kept of (fact, action, memory), as (action, memory)."""
    offered = [Candidate(f"m{n}", f"Memory {n}.", "fact", (), 0, 0.9) for n in range(memories)]
    verdicts = [{"fact": f, "action": action, "memory": m, "reason": ""} for f, action, m in told]
    numbered = {n: Fact(f"Fact {n}.") for n in range(facts)}
    return [(verdict.action, verdict.memory) for verdict in _verdicts(numbered, offered, {"verdicts": verdicts})]


def test_a_note_doubts_three_memories_at_most():
    """Beyond that none is marked, whatever is said, and memories that were not offered never."""
    assert kept(*((0, "MAYBE", n) for n in range(8))) == [("MAYBE", f"m{n}") for n in range(MAX_MAYBES)]
    assert kept((0, "MAYBE", 8), (2, "MAYBE", 0), (0, "maybe", 0), (0, "MAYBE", True)) == []


def test_a_memory_is_judged_once_and_surely_if_at_all():
    """What another verdict retires or marks is not marked too, in whichever order they come."""
    assert kept((0, "MAYBE", 0), (1, "UPDATE", 0), (1, "MAYBE", 1), (0, "MAYBE", 1)) == [
        ("UPDATE", "m0"),
        ("MAYBE", "m1"),
    ]


# --- the mark ---


def test_the_older_memory_is_marked_and_the_log_tells_when_and_by_what(pair):
    """Both hold; the log has the day, the newer memory and the reason."""
    box, old, new = pair
    assert marks(box) == {OLD: NEW}
    assert set(statuses(box).values()) == {"current"}
    (line,) = [one for one in json.loads(box.memman("log", "list", "--json").stdout) if one["verb"] == "doubt"]
    assert (line["memory"], line["after"]) == (old, {"maybe_replaced_by": new, "why": "moved, it seems"})
    assert line["at"] > 0
    assert f"maybe_replaced_by: {new}" in box.memman("log", "list", "--memory", old[:8]).stdout


def test_low_trust_marks_nothing_that_people_said(box):
    """A page casts no doubt on the user's words; on another page's it does."""
    drained(box, OLD)
    drained(box, NEW, source="web")
    assert marks(box) == {}


def test_low_trust_marks_its_like(box):
    """Among pages the older one is marked."""
    drained(box, OLD, NEW, source="web")
    assert marks(box) == {OLD: NEW}


def test_what_is_protected_is_not_marked(box):
    """Protection keeps the mark off, and takes off the one that is there."""
    (old,) = drained(box, OLD)
    box.memman("insights", "protect", old)
    drained(box, NEW)
    assert marks(box) == {}
    box.memman("insights", "protect", "--undo", old)
    drained(box, "Coolify is where we deploy the shop.")
    assert len(marks(box)) == 1
    box.memman("insights", "protect", old)
    assert marks(box) == {}


def test_a_note_that_was_overtaken_is_itself_marked(box):
    """Where an outage let the newer note through first, the mark is the other way round."""
    down = True
    fault = lambda got: Act(500) if down and "Vercel" in str(got.body) and got.task == "extract" else Act()  # noqa: E731
    with ScriptedProvider(script=fault, respond=judging(("Vercel", "MAYBE", "Coolify"))) as provider:
        box.use(provider, EMBED_PROVIDER="builtin", EMBED_ENDPOINT="", EMBED_MODEL="")
        box.remember(OLD)
        box.remember("We deploy the shop on Coolify.")
        assert box.drain().done == 1
        down = False
        assert box.drain().done == 1
    assert marks(box) == {OLD: "We deploy the shop on Coolify."}


def test_said_again_the_older_one_is_the_newer(pair):
    """What casts doubt back on what doubted it ends that mark: there are no rings."""
    box, *_ = pair
    drained(box, OLD, judged=(("Vercel", "MAYBE", "Coolify"),))
    assert marks(box) == {NEW: OLD}


# --- its end ---


@pytest.mark.parametrize("side", [0, 1], ids=["older", "newer"])
@pytest.mark.parametrize("verb", ["forget", "purge"])
def test_forgetting_or_purging_either_side_ends_it(pair, verb, side):
    """The other one stands alone and unmarked, and nobody is asked about it; why it was doubted is in no record."""
    box, *uids = pair
    assert box.memman(verb, uids[side]).returncode == 0
    assert marks(box) == {}
    if verb == "purge":
        assert box.store("SELECT count(*) FROM record WHERE body LIKE '%moved, it seems%'") == [0]
    assert "maybe" not in box.memman("recall", OLD if side else NEW).stdout
    assert uids[1 - side][:8] not in box.memman("review", "list").stdout


def test_superseding_the_older_one_ends_it(pair):
    """What is replaced for certain is doubted no more; `reinstate` brings it back unmarked."""
    box, old, _ = pair
    box.memman("replace", old, "We deploy the shop on Fly.")
    box.drain()
    assert (statuses(box)[OLD], marks(box)) == ("superseded", {})
    box.memman("insights", "reinstate", old)
    assert (statuses(box)[OLD], marks(box)) == ("current", {})


def test_taking_the_newer_one_s_place_ends_it(pair):
    """What comes to hold in the place of the newer memory is not maybe replaced by it."""
    box, *_ = pair
    drained(box, OLD, judged=(("Vercel", "UPDATE", "Coolify"),))
    assert (statuses(box), marks(box)) == ({OLD: "current", NEW: "superseded"}, {})


# --- what keeps it ---


def test_a_rebuild_keeps_it(pair):
    """Working out edges and index again leaves it as it is."""
    box, *_ = pair
    rebuild(Place(str(box.data), "default", ""))
    assert marks(box) == {OLD: NEW}


def test_a_restored_backup_has_it(pair):
    """It comes back with a store that is gone; one that is there stays as it is."""
    box, old, _ = pair
    take(str(box.data))
    box.memman("insights", "protect", old)
    restored(box)
    assert marks(box) == {}
    shutil.rmtree(box.store_path().parent)
    restored(box)
    assert marks(box) == {OLD: NEW}


def fact(text):
    """Return a fact as a model tells it."""
    return {"text": text, "category": "fact", "importance": 3, "entities": [], "keywords": [], "summary": ""}


def test_a_repair_keeps_it(pair):
    """It is saved from a damaged file with what it marks."""
    box, *_ = pair
    box.store("PRAGMA wal_checkpoint(TRUNCATE)")
    path = box.store_path()
    data = bytearray(path.read_bytes())
    (page,) = box.store("SELECT rootpage FROM sqlite_master WHERE name = 'evidence'")
    data[4096 * page - 200] ^= 0x55
    path.write_bytes(data)
    assert box.memman("repair").returncode == 0
    assert list(path.parent.glob("memman.db.damaged-*"))
    assert marks(box) == {OLD: NEW}
