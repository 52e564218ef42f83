"""Two machines whose drains interleave: what either learns ends in one chain, and nothing is paid for twice."""

import json

import pytest

from memman.pipeline import candidates
from tests.support.machines import connected, done, to_server
from tests.support.providers import ScriptedProvider, respond

OLD = "The staging server listens on port 8080."
MINE = "The staging server listens on port 9090 now, not on 8080."
NEARER = "Port 9090 of the staging server is now open, not 8080."
THEIRS = "The staging server listens on port 7070 now, not on 8080."
ELSEWHERE = "Heron Bay is closed to sailing boats in winter."


@pytest.fixture
def shared(box, dsn):
    """Give a box whose default store is on a server."""
    box.remember(OLD)
    box.drain()
    to_server(box, dsn)
    return box


@pytest.fixture
def other(shared, dsn, home):  # noqa: ARG001 - it has to be there
    """Give another machine with the same store."""
    return connected(home("other"), dsn)


def amid(box, other, stage="reconcile", verb=("scheduler", "drain")):
    """Drain a box, and run a verb on the other once the first note has come through a stage; return the report."""
    left = [stage]

    def trace(name, plan):  # noqa: ARG001 - only when matters
        if name in left:
            left.clear()
            done(other, *verb)

    report = box.drain(trace=trace)
    assert not left
    return report


def texts(box, status):
    """Return what memories of a status say, the oldest first."""
    return box.store("SELECT text FROM memory WHERE status = ? ORDER BY id", status)


@pytest.mark.parametrize("mine_first", [True, False])
@pytest.mark.parametrize("stage", ["extract", "reconcile", "link"])
def test_contradicting_facts_end_in_one_chain(shared, other, stage, mine_first):
    """Whoever commits last compares with what the other stored; what was said last holds, on both machines."""
    for box, text in ((shared, MINE), (other, THEIRS))[:: 1 if mine_first else -1]:
        box.remember(text)
    assert amid(shared, other, stage).done == 1
    done(other, "scheduler", "drain")
    last = THEIRS if mine_first else MINE
    for box in (shared, other):
        assert texts(box, "current") == [last]
        assert sorted(texts(box, "superseded")) == sorted({OLD, MINE, THEIRS} - {last})
    chain = "SELECT id, uid, text, status, superseded_by, valid_to FROM memory ORDER BY id"
    assert shared.store(chain) == other.store(chain)


def replacing(asked):
    """Have each fact take the place of every memory that it is shown."""
    if asked["task"] != "reconcile":
        return respond(asked)
    shown = asked["user"].partition("<memories>")[2].count(" port ")
    verdicts = [{"fact": 0, "action": "UPDATE", "memory": n, "rest": "", "reason": "port"} for n in range(shown)]
    return {"verdicts": verdicts, "causes": []}


@pytest.mark.parametrize("theirs", [THEIRS, ELSEWHERE])
def test_a_question_is_paid_for_again_only_where_something_new_is_to_be_compared(shared, other, theirs):
    """What the other machine stored of something else costs nothing; what bears on the fact one question more."""
    other.remember(theirs)
    shared.remember(MINE)
    with ScriptedProvider(respond=replacing) as provider:
        shared.use(provider)
        assert amid(shared, other).done == 1
        asked = [json.dumps(got.body) for got in provider.received if got.task == "reconcile"]
        assert provider.tasks["extract"] == 1
        assert provider.calls["/v1/embeddings"] == 1
    assert len(asked) == (2 if theirs is THEIRS else 1)
    assert [THEIRS in one for one in asked] == ([False, True] if theirs is THEIRS else [False])
    assert MINE in texts(shared, "current")
    assert THEIRS not in texts(shared, "current")


def test_what_is_retired_elsewhere_makes_room_for_another(shared, other, monkeypatch):
    """The judge compares a fact with the best few: the other machine retires one of them, and the next has its turn."""
    monkeypatch.setattr(candidates, "COMPARED", 1)
    shared.remember(NEARER)
    shared.drain()
    done(other, "scheduler", "drain")
    shared.remember(MINE)
    (uid,) = other.store("SELECT uid FROM memory WHERE text = ?", NEARER)
    amid(shared, other, verb=("forget", uid))
    assert texts(shared, "forgotten") == [NEARER]
    assert texts(shared, "superseded") == [OLD]
    assert texts(shared, "current") == [MINE]
