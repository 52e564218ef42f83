"""A replica whose server's address is missing: it is read, nothing is written to it, and it is attached again."""

import json
import sys

import pytest

from memman.store.opening import DSN
from tests.support.box import no
from tests.support.machines import connected, done, to_server, told, unsigned_export

FACT = "The lighthouse lamp is serviced every May."
SETTINGS = 78


@pytest.fixture
def shared(box, dsn):
    """Give a box whose default store is on a server, beside a store of its own."""
    done(box, "store", "create", "own")
    told(box, FACT)
    to_server(box, dsn)
    return box


@pytest.fixture
def other(shared, dsn, home):  # noqa: ARG001 - it has to be there
    """Give another machine with the same store."""
    return connected(home("other"), dsn)


def detach(box):
    """Lose what a machine has of the address of its server."""
    (box.data / "env.default").unlink()


def attach(box, dsn, name="default"):
    """Connect a store to the server again."""
    return box.memman("store", "connect", name, "--dsn", "-", input=f"{dsn}\n")


def test_what_is_remembered_meanwhile_waits_and_is_stored_on_both_machines_afterwards(shared, other, dsn):
    """A drain leaves its notes in the queue with one line, drains other stores, and loses nobody's note."""
    detach(shared)
    shared.remember("The tide table hangs in the hall.")
    shared.remember("The boathouse key is under the third step.", store="own")
    ran = shared.memman("scheduler", "drain")
    assert (ran.returncode, ran.stderr.count("\n")) == (SETTINGS, 1), ran.stderr
    assert "store 'default' is a replica, and the address of its server is missing" in ran.stderr
    assert "store connect default" in ran.stderr
    assert shared.queue("SELECT store, attempts FROM note WHERE state = 'pending'") == [("default", 0)]
    assert shared.store("SELECT text FROM memory") == [FACT]
    assert shared.recall("boathouse key", store="own")
    assert shared.recall("lighthouse lamp") == [FACT]
    told(other, "The captain is paid in herring.")
    assert attach(shared, dsn).returncode == 0
    done(shared, "scheduler", "drain")
    done(other, "scheduler", "drain")
    assert unsigned_export(shared) == unsigned_export(other)
    assert len(shared.store("SELECT text FROM memory")) == 3


def test_without_the_driver_its_notes_wait_too(shared):
    """Where the driver is gone, the drain says what to install and drains other stores."""
    shared.remember("The tide table hangs in the hall.")
    shared.remember("The boathouse key is under the third step.", store="own")
    code = "import sys; sys.modules['psycopg'] = None; from memman._entry import main; sys.exit(main())"
    process = shared.start(sys.executable, "-c", code, "scheduler", "drain")
    out, err = process.communicate()
    assert (process.returncode, err.count("\n")) == (SETTINGS, 1), err
    assert "pip install 'memman[postgres]'" in err
    assert shared.queue("SELECT store, attempts FROM note WHERE state = 'pending'") == [("default", 0)]
    assert "processed 1 note:" in out


def test_doctor_and_status_say_it(shared):
    """Both name the store, and what attaches it."""
    detach(shared)
    examined = shared.memman("doctor", "--check", "sharing")
    assert examined.returncode == 1
    assert "store 'default' is a replica" in examined.stdout
    assert "store connect default" in examined.stdout
    assert "store default: the address of its server is missing" in done(shared, "status")
    assert json.loads(done(shared, "status", "--json"))["servers"]["default"]["state"] == "detached"


VERBS = (
    ("forget", "{memory}"),
    ("insights", "verify", "{memory}"),
    ("rule", "add", "Never deploy on Fridays"),
    ("embed", "reembed"),
    ("sync", "--folder", "{folder}"),
    ("store", "members", "default"),
    ("purge", "{memory}"),
)


def test_no_verb_writes_to_it(shared):
    """Whatever would change it says one line and changes nothing."""
    detach(shared)
    before = unsigned_export(shared)
    folder = shared.data.parent / "shared"
    folder.mkdir()
    names = {"memory": shared.store("SELECT uid FROM memory")[0], "folder": str(folder)}
    for verb in VERBS:
        ran = shared.memman(*(word.format(**names) for word in verb))
        assert ran.returncode in {SETTINGS, 2}, (verb, ran.stdout, ran.stderr)
        assert ran.stderr.strip().count("\n") == 0, (verb, ran.stderr)
        assert unsigned_export(shared) == before, verb


def test_a_backup_is_not_restored_over_it(shared):
    """It is a replica still, which its server has."""
    done(shared, "backup", "create")
    detach(shared)
    assert "is on a server" in shared.memman("backup", "restore", "latest", "--store", "default").stderr


def test_it_is_attached_to_no_other_store(shared, cluster):
    """Another server, or another store of that name, is refused, and the address is not kept."""
    detach(shared)
    with cluster.database() as another:
        another.upgrade()
        dsn = another.role("alice", "memman_writer")
        another.sql("SELECT memman.make_store(current_user, 'default')", role="alice")
        ran = attach(shared, dsn)
    assert ran.returncode == 2
    assert "is a replica of another" in ran.stderr
    assert not (shared.data / "env.default").exists()


def test_an_address_that_is_set_by_hand_makes_no_replica_of_a_store_of_ones_own(box, dsn, database):
    """Connecting a store that has memories and was never on a server is refused as without the setting."""
    database.sql("SELECT memman.make_store(current_user, 'default')", role="alice")
    told(box, FACT)
    done(box, "config", "set", DSN, "-", "--store", "default", input=dsn)
    ran = attach(box, dsn)
    assert (ran.returncode, "there is a store 'default' here already" in ran.stderr) == (2, True), ran.stderr
    assert box.store("SELECT text FROM memory") == [FACT]


def test_its_address_is_not_unset(shared):
    """`config unset` names the verbs that end a replica; of a store by itself it takes an address away."""
    ran = shared.memman("config", "unset", DSN, "--store", "default")
    assert ran.returncode == 2
    assert all(verb in ran.stderr for verb in ("store leave default", "migrate --to sqlite"))
    assert DSN in (shared.data / "env.default").read_text()
    done(shared, "config", "set", DSN, "-", "--store", "own", input="postgresql://nowhere/x")
    assert "unset" in done(shared, "config", "unset", DSN, "--store", "own")


def test_without_its_server_for_good_it_becomes_a_store_of_ones_own(shared):
    """`migrate --to sqlite` keeps what is here, and notes that waited are stored."""
    detach(shared)
    shared.remember("The tide table hangs in the hall.")
    assert "this machine's own" in done(shared, "migrate", "--to", "sqlite")
    assert shared.drain().done == 1
    assert len(shared.store("SELECT text FROM memory")) == 2


def test_a_store_that_has_left_is_no_replica(shared, database, home):
    """What stays of a store that was left is written to as before."""
    address = database.role("bob", "memman_writer")
    done(shared, "store", "add-member", "default", database.called("bob"))
    bob = connected(home("bob"), address)
    assert bob.person("store", "leave", "default", answer=no).returncode == 77
    done(bob, "store", "leave", "default")
    assert not (bob.data / "env.default").read_text()
    bob.remember("The tide table hangs in the hall.")
    done(bob, "scheduler", "drain")
    assert bob.store("SELECT text FROM memory") == ["The tide table hangs in the hall."]
