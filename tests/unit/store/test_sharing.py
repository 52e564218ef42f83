"""A store that several people share on a server, by the command line: connecting, members, who sees what, errors."""

import json
import os
import select
import subprocess
import sys

import pytest

from memman.locks import drain_lock
from memman.store.postgres.server import VERSION
from tests.support.box import PATIENCE, no
from tests.support.postgres import pooler

REFUSED, AWAY, USAGE, NEWER, PEOPLE = 18, 17, 2, 14, 77


def done(ran):
    """Expect success; return what was printed."""
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def refused(ran, code, *words):
    """Expect one line on standard error with these words, and this exit code."""
    assert (ran.returncode, ran.stderr.count("\n")) == (code, 1), ran.stderr
    assert not [word for word in words if word not in ran.stderr], ran.stderr
    assert "secret-of" not in ran.stderr + ran.stdout
    return ran.stderr


def connect(box, dsn, *more):
    """Connect a person's store `team` to the server."""
    return box.memman("team", "connect", "team", "--dsn", "-", *more, input=f"{dsn}\n")


@pytest.fixture
def team(database, home):
    """Give alice, who owns a shared store, and bob, who writes to it."""
    people = {}
    for role in ("alice", "bob"):
        database.role(role, "memman_writer")
        people[role] = home(role)
        if role == "bob":
            done(people["alice"].memman("team", "add", "team", database.called("bob")))
        done(connect(people[role], database.dsn(role), *(["--create"] if role == "alice" else [])))
        done(people[role].memman("store", "use", "team"))
    return people


def told(box, text, *options):
    """Remember a text and drain it."""
    done(box.memman("remember", text, *options))
    drain(box)


def drain(box):
    """Drain."""
    done(box.memman("scheduler", "drain"))


def found(box, question):
    """Return the hits of a recall, by text."""
    hits = json.loads(done(box.memman("recall", question, "--json", "--all-scopes")))["hits"]
    return {hit["text"]: hit for hit in hits}


def the_id(box, part):
    """Return the id of the memory whose text holds `part`."""
    rows = json.loads(done(box.memman("list", "--json", "--limit", "100")))
    return next(row["uid"] for row in rows if part in row["text"])


def test_what_is_private_stays_until_it_is_shared(team):
    """A personal memory is its author's; shared it reaches the others with its author, unshared it leaves them."""
    alice, bob = team["alice"], team["bob"]
    told(alice, "The heron of the harbour is called Balthazar", "--scope", "personal")
    drain(bob)
    assert not found(bob, "heron of the harbour")
    uid = the_id(alice, "Balthazar")
    assert "shared" in done(alice.memman("team", "share", uid))
    drain(bob)
    (hit,) = found(bob, "heron of the harbour").values()
    assert hit["visibility"] == "shared"
    assert hit["author"].endswith("_alice")
    assert f"by {hit['author']}" in done(bob.memman("recall", "heron of the harbour"))
    assert found(alice, "heron of the harbour").popitem()[1]["labels"] == []
    refused(bob.memman("team", "unshare", uid), USAGE, "only its author decides")
    done(alice.memman("team", "unshare", uid))
    drain(bob)
    assert not found(bob, "heron of the harbour")
    for table in ("memory", "vector", "log", "receipt", "fts", "authorship"):
        assert bob.store(f"SELECT count(*) FROM {table}", name="team") == [0], table
    assert found(alice, "heron of the harbour")


def test_what_its_author_purges_stays_away_from_others_and_what_is_hidden_does_not(team):
    """A purge is told to all who saw the memory, whose machines do not hear it again; of one unshared they may."""
    alice, bob = team["alice"], team["bob"]
    for text in ("Balthazar is the heron of the harbour", "Melchior is the pike of the moat"):
        told(alice, text, "--visibility", "shared")
    drain(bob)
    done(alice.person("purge", the_id(alice, "Balthazar")))
    done(alice.memman("team", "unshare", the_id(alice, "Melchior")))
    drain(alice)
    drain(bob)
    files = b"".join(path.read_bytes() for path in bob.data.rglob("*") if path.is_file())
    assert b"althazar" not in files
    assert b"elchior" not in files
    for text in ("Balthazar is the heron of the harbour", "Melchior is the pike of the moat"):
        told(bob, text, "--source", "agent")
    texts = bob.store("SELECT text FROM memory", name="team")
    assert texts == ["Melchior is the pike of the moat"]


def test_visibility_can_be_said_with_the_note(team):
    """`remember --visibility` says for whom a note is, whatever its scope."""
    alice, bob = team["alice"], team["bob"]
    told(alice, "The ferry leaves at seven in the morning", "--visibility", "shared")
    told(alice, "The captain is paid in herring", "--visibility", "private")
    drain(bob)
    assert "The ferry leaves at seven in the morning" in found(bob, "when does the ferry leave")
    assert not found(bob, "captain paid in herring")
    refused(alice.memman("remember", "x", "--visibility", "all"), USAGE, "visibility")


def test_who_wrote_and_who_retired_is_known(team):
    """`why` and `insights show` name the author of a memory, for whom it is, and who retired it."""
    alice, bob = team["alice"], team["bob"]
    told(alice, "The lighthouse is painted in red and white", "--visibility", "shared")
    drain(bob)
    uid = the_id(bob, "lighthouse")
    done(bob.memman("forget", uid))
    drain(bob)
    drain(alice)
    for box in (alice, bob):
        (record,) = json.loads(done(box.memman("show", uid, "--json")))
        assert (record["author"][-6:], record["visibility"], record["retired_by"][-4:]) == ("_alice", "shared", "_bob")
        assert record["status"] == "forgotten"
        assert all(word in done(box.memman("show", uid)) for word in ("_alice", "_bob", "shared"))
    done(alice.memman("forget", "--undo", uid))
    (record,) = json.loads(done(alice.memman("show", uid, "--json")))
    assert record["retired_by"] == ""


def test_what_is_private_retires_nothing_that_others_share(team):
    """A private memory stands beside the shared one that it contradicts, which its author may replace for all."""
    alice, bob = team["alice"], team["bob"]
    told(alice, "The boats of the team are stored in the old shed", "--visibility", "shared")
    drain(bob)
    uid = the_id(bob, "old shed")
    done(bob.memman("replace", uid, "The boats of the team are stored in the cellar", "--visibility", "private"))
    drain(bob)
    drain(alice)
    assert set(found(alice, "where are the boats stored")) == {"The boats of the team are stored in the old shed"}
    assert len(found(bob, "where are the boats stored")) == 2
    done(alice.memman("replace", uid, "The boats of the team are stored in the new hall"))
    drain(alice)
    drain(bob)
    assert set(found(alice, "where are the boats stored")) == {"The boats of the team are stored in the new hall"}
    assert "The boats of the team are stored in the new hall" in found(bob, "where are the boats stored")
    refused(
        alice.memman("team", "unshare", the_id(alice, "new hall")), USAGE, "others share and would lose", "reinstate"
    )


def test_a_reader_is_told_that_nothing_is_saved(team, database, home):
    """Who may only read recalls what is shared, and `remember` says at once that it keeps nothing."""
    alice, carol = team["alice"], home("carol")
    told(alice, "The tide is highest at noon", "--visibility", "shared")
    database.role("carol", "memman_writer")
    done(alice.memman("team", "add", "team", database.called("carol"), "--may", "read"))
    done(connect(carol, database.dsn("carol")))
    done(carol.memman("store", "use", "team"))
    assert "The tide is highest at noon" in found(carol, "when is the tide highest")
    refused(carol.memman("remember", "I was here"), REFUSED, "may only read")
    drain(carol)
    refused(carol.memman("forget", the_id(carol, "tide")), REFUSED, "may only read")
    assert carol.memman("status").returncode == 0


def test_what_was_queued_before_one_may_only_read_waits(team, database):
    """A note of a person who may only read by now stays in the queue, and doctor says why."""
    alice, bob = team["alice"], team["bob"]
    done(bob.memman("remember", "The mussels are ripe in autumn"))
    done(alice.memman("team", "add", "team", database.called("bob"), "--may", "read"))
    refused(bob.memman("scheduler", "drain"), REFUSED, "may only read")
    assert bob.states() == {"pending": 1}
    told_by_doctor = bob.memman("doctor").stdout
    assert "may only read" in told_by_doctor
    assert "1 note" in told_by_doctor
    done(alice.memman("team", "add", "team", database.called("bob"), "--may", "write"))
    bob.queue("UPDATE note SET retry_at = 0")
    drain(bob)
    assert "The mussels are ripe in autumn" in found(bob, "when are mussels ripe")


def test_only_an_owner_says_who_is_a_member(team, database):
    """Members are listed to members, added and removed by an owner; the last owner stays."""
    alice, bob = team["alice"], team["bob"]
    rows = json.loads(done(bob.memman("team", "members", "team", "--json")))
    assert {row["role"]: (row["may"], row["you"]) for row in rows} == {
        database.called("alice"): ("own", False),
        database.called("bob"): ("write", True),
    }
    database.role("gina")
    refused(bob.memman("team", "add", "team", database.called("gina")), REFUSED, "does not own")
    refused(alice.memman("team", "add", "team", "nobody_such"), USAGE, "has no role")
    said = done(alice.memman("team", "add", "team", database.called("gina")))
    assert f'GRANT "memman_writer" TO "{database.called("gina")}"' in said
    refused(alice.memman("team", "remove", "team", database.called("alice")), REFUSED, "only owner")
    assert "no longer" in done(alice.memman("team", "remove", "team", database.called("bob")))
    refused(bob.memman("scheduler", "drain"), REFUSED, "no member")
    refused(bob.memman("team", "members", "team"), REFUSED, "no member")


def test_what_nobody_shares_is_not_asked_about(box):
    """It is said so instead."""
    told(box, "The heron nests in March")
    ran = box.person("team", "share", the_id(box, "heron"))
    assert (ran.returncode, ran.asked, ran.stderr.count("\n")) == (USAGE, "", 1), ran
    assert "is not shared" in ran.stderr


def test_sharing_does_nothing_without_a_yes(team, database):
    """It is refused where nobody can be asked, and where the answer is no; the server has what it had."""
    bob = team["bob"]
    told(bob, "The heron nests in March", "--visibility", "private")
    verb = ("team", "share", the_id(bob, "heron"))
    asked = bob.person(*verb, answer=no)
    assert (asked.returncode, "[y/N] no" in asked.asked) == (PEOPLE, True), asked
    unasked = bob.memman(*verb, before=("setsid", "--wait"), stdin=subprocess.DEVNULL)
    assert (unasked.returncode, unasked.stdout) == (PEOPLE, ""), unasked
    assert {*database.sql("SELECT visibility FROM memman.subject")} == {"private"}


def test_verbs_that_wait_for_a_drain_say_so(team):
    """While a drain is at work, connecting and removing say when to try again, before they ask."""
    alice = team["alice"]
    with drain_lock(str(alice.data)):
        for verb in (
            ("store", "remove", "team"),
            ("team", "connect", "team", "--dsn", "-"),
        ):
            ran = alice.person(*verb, stdin="postgresql://localhost/x")
            assert (ran.returncode, ran.asked) == (75, ""), ran
            assert "a drain is running; try again when it has finished" in ran.stderr


ERRORS = {
    "wrong password": (REFUSED, "does not accept the password"),
    "unknown database": (REFUSED, "no such role or database"),
    "nobody listens": (AWAY, "is out of reach"),
    "TLS": (REFUSED, "does not offer TLS"),
    "bad address": (78, "no address of a Postgres server"),
    "no member": (USAGE, "no store 'team' that you are a member of", "team add team ", "--create makes a new one"),
}


@pytest.mark.parametrize("what", ERRORS)
def test_each_error_of_connecting_is_one_line(what, database, home):
    """What keeps one from a server is said in one line, with a documented exit code and never the password."""
    database.role("alice", "memman_writer")
    dsn = {
        "wrong password": database.dsn("alice", password="secret-of-nobody"),
        "unknown database": database.dsn("alice", dbname="nowhere"),
        "nobody listens": database.dsn("alice", port=1),
        "TLS": database.dsn("alice", sslmode="require"),
        "bad address": "postgresql://alice:secret-of-alice@[bad",
        "no member": database.dsn("alice"),
    }[what]
    alice = home("alice")
    refused(connect(alice, dsn), *ERRORS[what])
    assert not alice.store_path("team").exists()
    assert not (alice.data / "env.team").exists()


def test_at_a_terminal_the_address_is_asked_for_and_not_shown(home):
    """Where `--dsn -` or nothing is given, what is typed leaves no trace on the terminal."""
    alice = home("alice")
    for given in (["--dsn", "-"], []):
        ours, theirs = os.openpty()
        command = [alice.script, "team", "connect", "team", *given]
        with subprocess.Popen(command, env=alice.environ, stdin=theirs, stderr=subprocess.PIPE, text=True) as process:
            asked = select.select([process.stderr], [], [], PATIENCE)[0]
            os.write(ours, b"postgresql://alice:secret-of-alice@127.0.0.1:1/x\n")
            said = process.stderr.read()
        assert asked
        assert process.returncode == AWAY, said
        assert said.startswith("Address of the server: ")
        assert "secret" not in said
        assert not select.select([ours], [], [], 0)[0] or b"secret" not in os.read(ours, 4096)
        os.close(theirs)
        os.close(ours)


def test_a_server_without_tables_or_with_others_is_told(cluster, home):
    """No tables, no right to make them, an older schema and a newer one: each is one line that says what to do."""
    with cluster.database() as empty:
        alice, dsn = home("alice"), empty.role("alice")
        refused(connect(alice, dsn), REFUSED, "has no tables of memman", "memman team upgrade")
        upgrade = ("team", "upgrade", "--dsn", "-")
        refused(alice.memman(*upgrade, input=dsn), REFUSED, "does not give this role the right")
        assert "was brought from nothing" in done(alice.memman(*upgrade, input=empty.address))
        assert f"has schema {VERSION} already" in done(alice.memman(*upgrade, input=empty.address))
        empty.sql(f"GRANT memman_writer TO {empty.called('alice')}")
        done(connect(alice, dsn, "--create"))
        for number, code, says in ((VERSION - 1, REFUSED, "needs"), (VERSION + 1, NEWER, "upgrade memman")):
            empty.sql("UPDATE memman.version SET number = %s", number)
            refused(alice.memman("team", "members", "team"), code, says)
            refused(connect(home("bob"), dsn), code, says)
        refused(alice.memman(*upgrade, input=empty.address), NEWER, "upgrade memman")


def test_without_the_driver_one_line_says_what_to_install(box):
    """Where psycopg is not installed, connecting says how it is."""
    code = "import sys; sys.modules['psycopg'] = None; from memman._entry import main; sys.exit(main())"
    process = box.start(sys.executable, "-c", code, "team", "connect", "team", "--dsn", "host=localhost")
    out, err = process.communicate()
    assert (process.returncode, out) == (78, "")
    assert err.endswith("pip install 'memman[postgres]'\n")


def test_a_person_with_one_plain_role_gets_along(cluster, home):
    """Who owns a database and may make no roles has tables, stores and two machines all the same."""
    with cluster.database() as plain:
        dsn = plain.role("plain")
        plain.sql(f"ALTER DATABASE {plain.name} OWNER TO {plain.called('plain')}")
        laptop, desktop = home("laptop"), home("desktop")
        done(laptop.memman("team", "upgrade", "--dsn", "-", input=dsn))
        done(connect(laptop, dsn, "--create"))
        done(connect(desktop, dsn))
        done(laptop.memman("remember", "The heron nests in March", "--store", "team"))
        drain(laptop)
        drain(desktop)
        hits = json.loads(done(desktop.memman("recall", "when does the heron nest", "--store", "team", "--json")))
        assert [hit["text"] for hit in hits["hits"]] == ["The heron nests in March"]
        assert plain.sql("SELECT tableowner FROM pg_tables WHERE tablename = 'record'") == [plain.called("plain")]


def test_a_server_that_is_another_or_has_lost_the_store_is_told(team, database):
    """A store is of one server: another in its place, or one without the store, changes nothing of it."""
    alice = team["alice"]
    told(alice, "The heron nests in March", "--visibility", "shared")
    (before,) = database.sql("SELECT id FROM memman.server")
    database.sql("UPDATE memman.server SET id = 'another'")
    refused(alice.memman("scheduler", "drain"), REFUSED, "is not the server that")
    database.sql("UPDATE memman.server SET id = %s", before)
    for table in ("member", "store"):
        database.sql(f"DELETE FROM memman.{table}")
    refused(alice.memman("scheduler", "drain"), REFUSED, "no such store any more")
    assert found(alice, "when does the heron nest")


def test_a_standby_is_told(team, database):
    """A server that only reads takes nothing, and says where to go instead; what was done meanwhile travels later."""
    alice = team["alice"]
    told(alice, "The heron nests in March")
    database.cluster.execute(f"ALTER DATABASE {database.name} SET default_transaction_read_only = on")
    done(alice.memman("forget", the_id(alice, "heron")))
    refused(alice.memman("scheduler", "drain"), REFUSED, "read-only copy", "primary")
    database.cluster.execute(f"ALTER DATABASE {database.name} RESET default_transaction_read_only")
    drain(alice)
    assert database.sql("SELECT count(*) FROM memman.record WHERE kind = 'retired'") == [1]


def test_the_password_is_shown_nowhere(team, database):
    """No log, setting, report or list of processes has it; the address with one is not taken from a command line."""
    alice = team["alice"]
    told(alice, "The heron nests in March")
    said = [alice.memman(*verb.split()) for verb in ("config show", "config show --store team", "doctor", "status",
            "status --json", "store list", "team members team", "log worker", "scheduler status")]  # fmt: skip
    assert not [ran.args for ran in said if "secret-of" in ran.stdout + ran.stderr]
    holding = [path for path in alice.data.rglob("*") if path.is_file() and b"secret-of-alice" in path.read_bytes()]
    assert [path.name for path in holding] == ["env.team"]
    assert holding[0].stat().st_mode & 0o077 == 0
    uri = f"postgresql://{database.called('alice')}:secret-of-alice@127.0.0.1/{database.name}"
    refused(alice.memman("team", "connect", "other", "--dsn", uri), USAGE, "others can see on a command line")


def test_two_people_work_through_a_pooler(database, home):
    """Through PgBouncer in transaction mode connecting, turns and pulls go as they do without."""
    for role in ("alice", "bob"):
        database.role(role, "memman_writer")
    with pooler(database, "alice", "bob") as pool:
        alice, bob = home("alice"), home("bob")
        done(connect(alice, database.dsn("alice", port=pool.port), "--create"))
        done(alice.memman("team", "add", "team", database.called("bob")))
        done(connect(bob, database.dsn("bob", port=pool.port)))
        for box in (alice, bob):
            done(box.memman("store", "use", "team"))
        told(alice, "The heron nests in March", "--visibility", "shared")
        told(bob, "The heron eats carp on Fridays", "--visibility", "shared")
        drain(alice)
        assert len(found(alice, "heron")) == len(found(bob, "heron")) == 2
