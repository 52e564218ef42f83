"""The server of a shared store out of reach: remembering and recalling go on, and what was done travels later."""

import json
import signal
import sys
import time
from uuid import uuid4

import pytest

from memman.store import reach
from memman.store.postgres.server import VERSION
from memman.upkeep.idle import idle
from tests.support.machines import connected, done, to_server
from tests.support.postgres import running

FACT = "The lighthouse lamp is serviced every May."


@pytest.fixture(scope="module")
def cluster():
    """Give a server that can be stopped."""
    with running(given="") as made:
        yield made


@pytest.fixture
def shared(box, dsn):
    """Give a box whose default store is on a server, beside a store of its own."""
    done(box, "store", "create", "own")
    box.remember(FACT)
    box.drain()
    to_server(box, dsn)
    return box


def test_offline_all_goes_on_and_travels_afterwards(shared, dsn, home, database):
    """Notes are stored, recall answers and says how old it is, doctor says so; the next drain tells the server."""
    other = connected(home("other"), dsn)
    with database.cluster.away():
        shared.remember("The tide table hangs in the hall.")
        shared.remember("The boathouse key is under the third step.", store="own")
        report = shared.drain()
        assert (report.done, report.failed, report.exit_code) == (2, 0, 17)
        assert shared.recall("boathouse key", store="own")
        said = shared.memman("recall", "tide table")
        assert "hangs in the hall" in said.stdout
        assert said.stderr.count("\n") == 1
        assert "the server of this store is out of reach: this is what it had" in said.stderr
        assert not shared.memman("--store", "own", "recall", "boathouse").stderr
        status = json.loads(done(shared, "status", "--json"))
        assert status["servers"]["default"]["state"] == "away"
        assert "is out of reach; last up to date 2" in done(shared, "status")
        assert "is out of reach" in shared.memman("doctor").stdout
        assert "out of reach: this is what it had at 2" in done(shared, "prime")
        assert done(shared, "prime") == done(shared, "prime")
    assert shared.drain().exit_code == 0
    assert not shared.memman("recall", "lighthouse lamp").stderr
    assert json.loads(done(shared, "status", "--json"))["servers"]["default"]["state"] == "ok"
    done(other, "scheduler", "drain")
    assert "hangs in the hall" in done(other, "recall", "tide table")


DRAINS = ((), (), ("--json",), ("--wait",), ("--wait",), ("--limit", "1"), ("--store", "default"))


def test_offline_a_drain_says_so_whether_notes_wait_or_not(shared, database):
    """One line and the same exit code each time; where it is asked for another store, that is none of its matter."""
    shared.drain()
    with database.cluster.away():
        for waiting in (0, 1):
            for options in DRAINS:
                ran = shared.memman("scheduler", "drain", *options)
                assert (ran.returncode, ran.stderr.count("\n")) == (17, 1), (waiting, options, ran.stderr)
                assert "is out of reach" in ran.stderr
            assert done(shared, "scheduler", "drain", "--store", "own").startswith("processed 0 notes")
            shared.remember(f"The tide table of pier {waiting} hangs in the hall.")


OLD = "the server of this store is out of reach: this is what it had"
LISTS = (("list", "--by-day"), ("list",), ("show", "{memory}"))


def prompted(box):
    """Return what a prompt has put before the model, in a session of its own."""
    said = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": "s1",
        "prompt": "When is the lighthouse lamp serviced?",
    }
    return done(box, "hook", "user-prompt", "--host", "openclaw", input=json.dumps(said | {"session_id": str(uuid4())}))


def test_whoever_reads_a_replica_is_told_how_old_it_is(shared, database):
    """Prompts, recall and lists say it in one line, and in JSON in a field; of a store by itself there is neither."""
    memory = shared.store("SELECT uid FROM memory")[0]
    lists = [tuple(word.format(memory=memory) for word in verb) for verb in LISTS]
    asked = ("recall", "lighthouse lamp", "--json")
    with database.cluster.away():
        assert shared.memman("scheduler", "drain").returncode == 17
        kept = (shared.data / "data/default/reach").read_bytes()
        assert FACT in prompted(shared)
        assert OLD in prompted(shared)
        assert json.loads(done(shared, *asked))["replica"].startswith(OLD)
        for verb in lists:
            ran = shared.memman(*verb)
            assert ran.stderr.startswith(f"memman: {OLD}"), verb
            assert ran.stderr.count("\n") == 1
            assert json.loads(done(shared, *verb, "--json"))[0]["replica"].startswith(OLD), verb
        assert not shared.memman("--store", "own", "list", "--by-day").stderr
        assert (shared.data / "data/default/reach").read_bytes() == kept
    shared.drain()
    assert FACT in prompted(shared)
    assert "this is what it had" not in prompted(shared)
    assert "replica" not in json.loads(done(shared, *asked))
    for verb in lists:
        assert not shared.memman(*verb).stderr
        assert "replica" not in json.loads(done(shared, *verb, "--json"))[0]


REFUSALS = {
    "password": (
        "ALTER ROLE {role} PASSWORD 'another'",
        "ALTER ROLE {role} PASSWORD 'secret-of-alice'",
        18,
        "the server of this store does not accept the password",
    ),
    "membership": (
        "UPDATE memman.member SET role = 'nobody'",
        "UPDATE memman.member SET role = '{role}'",
        18,
        "the server of this store has no such store any more, or {role} is no member of it",
    ),
    "older schema": (
        "UPDATE memman.version SET number = number - 1",
        "UPDATE memman.version SET number = number + 1",
        18,
        f"the server of this store has schema {VERSION - 1} of memman and needs {VERSION}",
    ),
    "newer schema": (
        "UPDATE memman.version SET number = number + 1",
        "UPDATE memman.version SET number = number - 1",
        14,
        f"the server of this store has schema {VERSION + 1}, but this memman only knows {VERSION}",
    ),
}


@pytest.mark.parametrize("what", REFUSALS)
def test_what_keeps_a_server_from_being_asked_is_told_wherever_it_matters(shared, database, what):
    """Recall, the first block of a session and status name the cause until a drain has brought the store up to date."""
    broken, mended, code, says = (str(part).format(role=database.called("alice")) for part in REFUSALS[what])
    done(shared, "recall", "lighthouse lamp")
    database.sql(broken)
    ran = shared.memman("scheduler", "drain")
    assert (ran.returncode, ran.stderr.count("\n")) == (int(code), 1), ran.stderr
    assert ran.stdout.startswith("processed 0 notes")
    assert f"{says}: this is what it had" in shared.memman("recall", "lighthouse lamp").stderr
    assert f"{says}: this is what it had at 2" in done(shared, "prime")
    assert says in done(shared, "status")
    assert says in json.loads(done(shared, "status", "--json"))["servers"]["default"]["why"]
    database.sql(mended)
    done(shared, "scheduler", "drain")
    assert not shared.memman("recall", "lighthouse lamp").stderr
    assert json.loads(done(shared, "status", "--json"))["servers"]["default"]["why"] == ""


UNUSABLE = ("sslmode=foo", "channel_binding=foo", "keepalives=x", "connect_timeout=x")


@pytest.mark.parametrize("part", UNUSABLE)
def test_an_address_that_the_driver_does_not_take_is_an_error_of_settings(shared, dsn, part):
    """It is told apart from a server that is away, and nothing waits for it to come back by itself."""
    done(shared, "config", "set", "MEMMAN_STORE_DSN", "-", "--store", "default", input=f"{dsn} {part}")
    shared.remember("The tide table hangs in the hall.")
    shared.remember("The boathouse key is under the third step.", store="own")
    ran = shared.memman("scheduler", "drain")
    assert (ran.returncode, ran.stderr.count("\n")) == (78, 1), ran.stderr
    assert "has an address here that cannot be used" in ran.stderr
    assert ran.stdout.startswith("processed 2 notes:")
    assert "has an address here that cannot be used" in done(shared, "status")
    assert shared.states() == {"done": 3}


def test_an_address_that_is_none_is_told_with_the_store_that_has_it(shared):
    """The drain and doctor name the store, and show nothing of the address."""
    (shared.data / "env.default").write_text("MEMMAN_STORE_DSN=postgresql://alice:hunter/2@127.0.0.1/team\n")
    drained, examined = shared.memman("scheduler", "drain"), shared.memman("doctor", "--check", "sharing")
    assert (drained.returncode, drained.stderr.count("\n")) == (78, 1), drained.stderr
    for said in (drained.stderr, examined.stdout, done(shared, "status"), shared.memman("recall", "lamp").stderr):
        assert "no address of a Postgres server" in said
        assert "hunter" not in said
    assert "(store 'default')" in drained.stderr
    assert "(store 'default')" in examined.stdout


def test_offline_every_verb_does_what_it_does(shared, dsn, home, database):
    """They write here, and others hear of it once the server is back."""
    other = connected(home("other"), dsn)
    shared.remember("The tide table hangs in the hall.")
    shared.drain()
    lamp, table = shared.store("SELECT uid FROM memory ORDER BY id")
    with database.cluster.away():
        done(shared, "forget", lamp)
        done(shared, "insights", "protect", table)
        done(shared, "rule", "add", "Never deploy on Fridays", "--scope", "personal")
        assert "the next drain tells it" in done(shared, "team", "unshare", table)
    done(shared, "scheduler", "drain")
    done(other, "scheduler", "drain")
    assert other.store("SELECT uid FROM memory WHERE status = 'forgotten'") == [lamp]
    assert other.store("SELECT count(*) FROM mark WHERE protected") == [1]
    assert other.store("SELECT text FROM rule") == ["Never deploy on Fridays"]


def test_a_member_who_may_only_read_is_kept_up_to_date_and_drains_other_stores(shared, database):
    """Their notes wait, and what recall showed is not lost for a store of their own."""
    database.sql("UPDATE memman.member SET may = 'read'")
    shared.remember("The tide table hangs in the hall.")
    shared.remember("The boathouse key is under the third step.", store="own")
    shared.memman("recall", "lighthouse lamp")
    report = shared.drain()
    assert (report.done, report.exit_code) == (1, 18)
    assert shared.memman("scheduler", "drain", "--store", "own").returncode == 0
    assert shared.recall("boathouse key", store="own")
    shared.memman("--store", "own", "recall", "boathouse key")
    shared.drain()
    assert shared.store("SELECT uses FROM memory WHERE status = 'current'", name="own") == [1]
    database.sql("UPDATE memman.member SET may = 'own'")
    assert shared.drain().done == 1
    assert shared.store("SELECT max(uses) FROM memory") == [1]


def test_a_timer_finds_a_shared_store_due_after_a_minute(shared):
    """A drain that ticks over pulls about once a minute; a store of one's own asks for nothing."""
    shared.drain()
    path = str(shared.store_path())
    assert idle(str(shared.data))
    reach.reached(path, int((time.time() - 60) * 1000), "own")
    assert not idle(str(shared.data))
    assert shared.memman("scheduler", "drain", "--wait").returncode == 0
    assert idle(str(shared.data))


def test_a_session_that_starts_asks_for_what_others_stored(shared, dsn, home):
    """Where no drain has pulled for a minute the bell rings, and where writes start drains one does."""
    other = connected(home("other"), dsn)
    shared.remember("The tide table hangs in the hall.")
    shared.drain()
    start = {"input": json.dumps({"hook_event_name": "SessionStart", "session_id": "s1", "source": "startup"})}
    hook = ("hook", "session-start", "--host", "claude-code")
    bell = other.data / "doorbell"
    other.memman(*hook, **start)
    assert not bell.exists()
    reach.reached(str(other.store_path()), int((time.time() - 60) * 1000), "own")
    other.memman(*hook, **start)
    assert bell.exists()
    assert done(other, "scheduler", "drain")
    assert "tide table" in done(other, "recall", "tide table")


DYING = """
import os, signal, sys
from memman.commands import team
from memman.commands.place import Place
from memman.store.postgres import exchange
limit, exchange.PAGE = int(sys.argv[3]), 4
take = team.take_in
def dies(*args, **more):
    global limit
    limit -= 1
    if not limit:
        os.kill(os.getpid(), signal.SIGKILL)
    return take(*args, **more)
team.take_in = dies
team.read_address = str
team.connect(Place(sys.argv[1], "default", ""), "default", sys.argv[2])
"""


def test_a_first_fill_that_is_killed_goes_on(shared, dsn, home):
    """Any drain, or the same command again, brings the rest."""
    for rock in ("Gull", "Seal", "Heron", "Anvil", "Widow", "Castle"):
        shared.remember(f"The {rock} rock is marked by a green buoy.")
    shared.drain()
    other = home("other")
    for _ in range(2):
        process = other.start(sys.executable, "-c", DYING, str(other.data), dsn, "2")
        assert process.communicate() == ("", "")
        assert process.returncode == -signal.SIGKILL
    assert other.store("SELECT count(*) FROM record")[0] > 0
    done(other, "scheduler", "drain")
    texts = "SELECT text FROM memory ORDER BY text"
    assert other.store(texts) == shared.store(texts)
