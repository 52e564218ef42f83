"""A machine that was away for long: what it does not hold up, and what it has in the end."""

from contextlib import closing, suppress

import pytest
from psycopg.errors import LockNotAvailable

from memman.model.records import Draft, Fact
from memman.store.postgres import turn
from memman.store.replica import store as replica
from memman.store.replica.store import ReplicaStore

NOTES = 12


@pytest.fixture
def two(dsn, tmp_path):
    """Give two machines of one person that share a store."""
    stores = []
    for name in ("one", "other"):
        stores.append(ReplicaStore.connected(str(tmp_path / name), "default", dsn))
        stores[-1].connect("default", make=True)
    yield stores
    for store in stores:
        store.close()


def tell(store, uid):
    """Store a memory."""
    with store.unit() as unit:
        unit.add(Draft(uid, uid, Fact(f"Heron {uid}"), "user", "@", 1), 1)


def test_who_is_far_behind_catches_up_before_its_turn(two, database, monkeypatch):
    """Pages of what others changed are brought in while nobody waits, but for the last, and all of it is there."""
    one, other = two
    for n in range(NOTES):
        tell(one, f"m{n}")
    monkeypatch.setattr(turn, "PAGE", 5)
    held, plain = [], replica.apply

    def applied(db, changes):
        with closing(database.connect("alice")) as third:
            free = False
            with suppress(LockNotAvailable):
                third.execute("SELECT 1 FROM memman.store WHERE id = %s FOR UPDATE NOWAIT", (one.number,))
                free = True
        held.append(not free)
        plain(db, changes)

    monkeypatch.setattr(replica, "apply", applied)
    tell(other, "late")
    assert len(held) > 2
    assert not any(held[:-1])
    uids = [uid for (uid,) in other.db.execute("SELECT uid FROM memory ORDER BY id")]
    assert uids == [*(f"m{n}" for n in range(NOTES)), "late"]
    one.pull()
    assert [uid for (uid,) in one.db.execute("SELECT uid FROM memory ORDER BY id")] == uids
