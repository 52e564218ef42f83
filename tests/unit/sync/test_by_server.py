"""Two machines that share a store on a server: what either learns apart ends in one chain, on both alike."""

import pytest

from tests.support.machines import connected, done, to_server

OLD = "The staging server listens on port 8080."
MINE = "The staging server listens on port 9090 now, not on 8080."
THEIRS = "The staging server listens on port 7070 now, not on 8080."


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


def amid(box, other, stage):
    """Drain a box, and the other once the first note has come through a stage."""
    left = [stage]

    def trace(name, plan):  # noqa: ARG001 - only when matters
        if name in left:
            left.clear()
            done(other, "scheduler", "drain")

    assert box.drain(trace=trace).done == 1
    assert not left


@pytest.mark.parametrize("mine_first", [True, False])
@pytest.mark.parametrize("stage", ["extract", "link", "commit"])
def test_contradicting_facts_end_in_one_chain(shared, other, stage, mine_first):
    """Whoever hears of the other's compares; what was said last holds, on both machines."""
    for box, text in ((shared, MINE), (other, THEIRS))[:: 1 if mine_first else -1]:
        box.remember(text)
    amid(shared, other, stage)
    for box in (other, shared, other):
        done(box, "scheduler", "drain")
    chain = "SELECT m.text, m.status, n.text FROM memory m LEFT JOIN memory n ON n.id = m.superseded_by ORDER BY m.text"
    assert shared.store(chain) == other.store(chain)
    current = [text for text, status, _ in shared.store(chain) if status == "current"]
    assert current == [THEIRS if mine_first else MINE]
