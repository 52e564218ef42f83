"""The files of a shared store: what is purged, restored, repaired, backed up and removed while a server has it."""

import pytest

from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore
from tests.support.machines import connected, done, to_server
from tests.support.postgres import running

FACT = "The lighthouse lamp is serviced every May."
SECRET = "Harbour master Quillfeather keeps a wooden leg in the boathouse."


@pytest.fixture(scope="module")
def cluster():
    """Give a server that can be stopped."""
    with running(given="") as made:
        yield made


@pytest.fixture
def shared(box, dsn):
    """Give a box whose default store is on a server."""
    box.remember(FACT)
    box.remember(SECRET)
    box.drain()
    to_server(box, dsn)
    return box


@pytest.fixture
def other(shared, dsn, home):  # noqa: ARG001 - it has to be there
    """Give another machine with the same store."""
    return connected(home("other"), dsn)


def uid_of(box, word):
    """Return the id of the one memory that has a word."""
    return box.store("SELECT uid FROM memory WHERE text LIKE ?", f"%{word}%")[0]


def bytes_of(box):
    """Return all that the files of a data folder hold, but for backups."""
    files = (path for path in box.data.rglob("*") if path.is_file() and "backups" not in path.parts)
    return b"".join(path.read_bytes() for path in files)


def states(box, name="default"):
    """Return the state of all memories, but for who wrote them: a server knows us by a role."""
    store = SqliteStore(str(box.store_path(name)))
    found = {uid: index.state(store.db, uid) for uid in record_log.memories(store.db)}
    store.close()
    return {uid: state for uid, state in found.items() if "text" in state and not state.pop("author", None)}


def test_what_one_purges_is_gone_everywhere_and_does_not_come_back(shared, other, database):
    """On the server, in its feed, and on the other machine, where an agent that says it again is not heard."""
    assert b"Quillfeather" in bytes_of(other)
    assert shared.memman("purge", uid_of(shared, "Quillfeather")).returncode == 0
    assert database.sql("SELECT count(*) FROM memman.record r WHERE r::text LIKE '%Quillfeather%'") == [0]
    assert done(other, "scheduler", "drain")
    assert b"uillfeather" not in bytes_of(other)
    assert done(other, "recall", "Quillfeather") == ""
    assert len(states(other)) == len(states(shared)) == 1
    other.remember(SECRET, source="agent", agent="claude-code")
    assert done(other, "scheduler", "drain")
    assert len(states(other)) == 1
    # Nor by a backup of before.
    other.memman("migrate", "--to", "sqlite")
    assert "Quillfeather" not in done(other, "export")


def test_a_backup_is_not_restored_over_a_replica(shared, other):
    """Its rows are the server's: under another name it becomes a store of one's own."""
    done(other, "backup", "create")
    before = states(other)
    refused = other.memman("backup", "restore", "latest")
    assert refused.returncode == 2
    assert "is on a server, which has it" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert other.memman("backup", "restore", "latest", "--to", "copy").returncode == 0
    assert states(other) == before
    assert other.store("SELECT count(*) FROM meta WHERE key = 'server'", name="copy") == [0]
    other.remember("The tide table hangs in the hall.", store="copy")
    assert done(other, "scheduler", "drain")
    assert other.store("SELECT count(*) FROM memory", name="copy") == [3]
    assert states(shared) == before


def test_a_restore_of_all_leaves_replicas_alone(shared, other):
    """Stores of one's own come back, those on a server stay what that says."""
    other.remember("The tide table hangs in the hall.", store="own")
    done(other, "scheduler", "drain")
    done(other, "backup", "create")
    shared.memman("forget", uid_of(shared, "lamp"))
    done(shared, "scheduler", "drain")
    done(other, "scheduler", "drain")
    done(other, "forget", "--store", "own", other.store("SELECT uid FROM memory", name="own")[0])
    restored = other.memman("backup", "restore", "latest")
    assert restored.returncode == 0, restored.stderr
    assert states(other) == states(shared)


def test_a_damaged_store_is_made_anew_and_fetches_what_it_lacks(shared, other, database):
    """`repair` needs no server; the next drain brings what could not be read, and what was done goes on from there."""
    with other.store_path().open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 4)
    with database.cluster.away():
        assert other.person("repair").returncode == 0
    other.memman("team", "connect", "default", "--dsn", "-", input=database.dsn("alice"))
    other.remember("The tide table hangs in the hall.")
    assert done(other, "scheduler", "drain")
    shared.drain()
    assert states(other) == states(shared)
    assert len(states(other)) == 3


def test_a_replica_that_is_removed_leaves_its_server_alone(shared, other, dsn, database):
    """It is moved aside with the address of its server; connected to again, it comes back."""
    assert other.memman("store", "remove", "default").returncode == 0
    assert not (other.data / "env.default").exists()
    assert database.sql("SELECT count(*) FROM memman.record WHERE kind = 'learned'") == [2]
    connected(other, dsn)
    assert states(other) == states(shared)
