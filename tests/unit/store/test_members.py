"""What members of a shared store purge and keep to themselves of memories that others have a part in."""

import json
from contextlib import closing

import pytest

from memman.clock import now_ms
from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import open_store
from tests.support.machines import done

TEXT = "The yak in the yard eats graldimeth every Monday"
WORD = "graldimeth"
_MAYBE = "SELECT n.uid FROM mark JOIN memory m ON m.id = memory JOIN memory n ON n.id = maybe WHERE m.uid = ?"


@pytest.fixture
def team(database, home):
    """Give alice, who owns a shared store, and bob, who writes to it."""
    people = {}
    for role in ("alice", "bob"):
        dsn, people[role] = database.role(role, "memman_writer"), home(role)
        if role == "bob":
            done(people["alice"], "team", "add", "team", database.called("bob"))
        made = ("--create",) if role == "alice" else ()
        done(people[role], "team", "connect", "team", "--dsn", "-", *made, input=f"{dsn}\n")
        done(people[role], "store", "use", "team")
    return people


def told(box, text, *options):
    """Remember a text and drain it."""
    done(box, "remember", text, *options)
    drain(box)


def drain(*boxes):
    """Drain one after the other."""
    for box in boxes:
        done(box, "scheduler", "drain")


def the_id(box, part):
    """Return the id of the memory whose text holds `part`."""
    rows = json.loads(done(box, "list", "--json", "--status", "all", "--limit", "100"))
    return next(row["uid"] for row in rows if part in row["text"])


def on_server(database):
    """Return how many records of the server hold a word of the text."""
    return database.sql("SELECT count(*) FROM memman.record WHERE strpos(lower(body), %s) > 0", WORD)[0]


def on_machine(box):
    """Return the files of a data folder that hold a word of the text."""
    files = [path for path in box.data.rglob("*") if path.is_file()]
    return {path.name for path in files if WORD.encode() in path.read_bytes().lower()}


def states(box):
    """Return what the records of a machine say of everything, but for who wrote it."""
    with closing(open_store(str(box.data), "team")) as store:
        found = {uid: index.state(store.db, uid) for uid in record_log.memories(store.db)}
    return {
        uid: {part: said for part, said in state.items() if part not in {"author", "retired_by"}}
        for uid, state in found.items()
        if state and "receipt" not in state
    }


def confirmed(box, _):
    """Say the same again."""
    told(box, TEXT, "--visibility", "shared")


def protected(box, uid):
    """Protect it."""
    done(box, "insights", "protect", uid)


def forgotten(box, uid):
    """Forget it."""
    done(box, "forget", uid)


def superseded(box, uid):
    """Say what takes its place."""
    done(box, "replace", uid, "The yak in the yard eats hay every Monday now", "--visibility", "shared")
    drain(box)


def doubted(box, uid):
    """Say what maybe takes its place."""
    told(box, "The yak may eat hay by now", "--visibility", "shared")
    with closing(open_store(str(box.data), "team")) as store:
        rows = dict(store.db.execute("SELECT uid, id FROM memory"))
        newer = next(row for one, row in rows.items() if one != uid)
        with store.unit() as unit:
            assert unit.doubt(rows[uid], newer, now_ms(), "no graldimeth any more")


def linked(box, uid):
    """Link a private memory to it, either way."""
    told(box, "I groom the yak on Mondays", "--visibility", "private")
    for ends in ((the_id(box, "groom"), uid), (uid, the_id(box, "groom"))):
        done(box, "graph", "link", *ends, "--type", "causal", "--note", "for the graldimeth")


def ruled(box, uid):
    """Make a personal rule of it."""
    done(box, "rule", "promote", uid, "--scope", "personal")


def nothing(box, uid):
    """Only know it."""


TOUCHES = (nothing, confirmed, protected, forgotten, doubted, superseded, linked)


@pytest.mark.promise("S15")
@pytest.mark.parametrize("touch", [*TOUCHES, ruled])
@pytest.mark.parametrize("by", ["author", "owner"])
def test_whoever_may_purge_what_is_shared_nothing_of_it_is_left(team, database, touch, by):
    """Whatever another member did with it, its author or an owner purges it from the server and both machines."""
    alice, bob = team["alice"], team["bob"]
    purger, other = (alice, bob) if by == "author" else (bob, alice)
    if by == "owner":
        done(alice, "team", "add", "team", database.called("bob"), "--may", "own")
    told(alice, TEXT, "--visibility", "shared")
    drain(bob)
    touch(bob, the_id(bob, WORD))
    drain(bob, alice)
    assert on_server(database)
    done(purger, "purge", the_id(purger, WORD))
    drain(purger, other, purger)
    assert on_server(database) == 0
    assert on_machine(alice) == on_machine(bob) == set()
    for box in (alice, bob):
        told(box, TEXT, "--source", "agent")
        assert box.store("SELECT count(*) FROM memory WHERE text = ?", TEXT, name="team") == [0]


def test_who_neither_wrote_nor_owns_does_not_purge(team):
    """They are told who may, and nothing is taken away."""
    alice, bob = team["alice"], team["bob"]
    told(alice, TEXT, "--visibility", "shared")
    drain(bob)
    ran = bob.memman("purge", the_id(bob, WORD))
    assert (ran.returncode, "an owner of the store" in ran.stderr) == (2, True), ran.stderr
    assert bob.store("SELECT text FROM memory", name="team") == [TEXT]


@pytest.mark.parametrize("touch", TOUCHES)
def test_what_its_author_unshares_others_see_nothing_of(team, database, touch):
    """Whatever another member did with it, a memory that its author unshares is in no row that the other sees."""
    alice, bob = team["alice"], team["bob"]
    told(alice, TEXT, "--visibility", "shared")
    drain(bob)
    uid = the_id(bob, WORD)
    touch(bob, uid)
    drain(bob, alice)
    if touch is superseded:
        return
    done(alice, "team", "unshare", uid)
    drain(bob)
    (number,) = database.sql("SELECT id FROM memman.store")
    for ask in ("SELECT r::text FROM memman.record r", f"SELECT r::text FROM memman.pull({number}, '{{}}', 999) r"):
        assert not [row for row in database.sql(ask, role="bob") if WORD in row or f'"{uid}"' in row]
    assert not [
        table
        for table in ("record", "log", "meta", "receipt", "link", "memory", "evidence")
        for row in bob.store(f"SELECT * FROM {table}", name="team")
        if WORD in str(row) or uid in str(row)
    ]
    assert the_id(alice, WORD) == uid
    done(alice, "team", "share", uid)
    drain(bob, alice)
    assert the_id(bob, WORD) == uid
    of_both = [{part: said for part, said in states(box)[uid].items() if "edge" not in part} for box in (bob, alice)]
    assert of_both[0] == of_both[1]
    assert bob.memman("doctor", "--check", "integrity").returncode == 0


def test_what_its_author_unshares_marks_nothing_of_others(team):
    """A memory of another is maybe replaced no more by what that other sees no more, and no row of theirs names it."""
    alice, bob = team["alice"], team["bob"]
    told(bob, "The yak may eat hay by now", "--visibility", "shared")
    drain(alice)
    told(alice, TEXT, "--visibility", "shared")
    theirs, uid = the_id(bob, "hay"), the_id(alice, WORD)
    with closing(open_store(str(alice.data), "team")) as store, store.unit() as unit:
        rows = dict(store.db.execute("SELECT uid, id FROM memory"))
        unit.keep(rows[uid], now_ms())
        assert unit.doubt(rows[theirs], rows[uid], now_ms(), f"perhaps {WORD}")
    drain(alice, bob)
    assert bob.store(_MAYBE, theirs, name="team") == [uid]
    done(alice, "team", "unshare", uid)
    drain(bob)
    assert not [
        table
        for table in ("record", "log", "meta", "receipt")
        for row in bob.store(f"SELECT * FROM {table}", name="team")
        if WORD in str(row) or uid in str(row)
    ]


def test_a_purge_without_the_server_travels_later(team, database):
    """Here it is gone at once; the server and others follow with the next drain that reaches it."""
    alice, bob = team["alice"], team["bob"]
    told(alice, TEXT, "--visibility", "shared")
    drain(bob)
    database.sql("UPDATE memman.server SET id = id || 'x'")
    done(alice, "purge", the_id(alice, WORD))
    assert on_machine(alice) == set()
    assert on_server(database)
    database.sql("UPDATE memman.server SET id = rtrim(id, 'x')")
    drain(alice, bob)
    assert on_server(database) == 0
    assert on_machine(bob) == set()


def test_a_secret_in_what_another_says_is_for_its_author_to_take_out(team, database):
    """Bob's scan names it and keeps it hidden; alice's takes it out for both, and out of the server."""
    token = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
    alice, bob = team["alice"], team["bob"]
    told(alice, "The yak in the yard is fed with a token", "--visibility", "shared")
    drain(bob)
    database.sql(f"UPDATE memman.record SET body = replace(body, 'a token', '{token}')")
    for box in (alice, bob):
        with closing(open_store(str(box.data), "team")) as store, store.transaction():
            for number, body in store.db.execute("SELECT id, body FROM record").fetchall():
                record_log.rewrite(store.db, number, body.replace("a token", token))
            store.db.execute("DELETE FROM meta WHERE key GLOB 'rewritten:*'")
            store.db.execute(f"UPDATE memory SET text = replace(text, 'a token', '{token}'), screened = 0")
    ran = bob.person("scan", "--fix")
    assert ran.returncode == 1
    assert the_id(bob, "yak")[:8] in ran.stdout
    assert "an owner of the store" in " ".join(ran.stdout.split())
    assert token not in done(bob, "recall", "what is the yak fed with")
    assert alice.person("scan", "--fix").returncode == 0
    drain(alice, bob)
    assert database.sql("SELECT count(*) FROM memman.record WHERE strpos(body, %s) > 0", token) == [0]
    for box in (alice, bob):
        for table in ("memory", "record"):
            assert token not in str(box.store(f"SELECT * FROM {table}", name="team"))
