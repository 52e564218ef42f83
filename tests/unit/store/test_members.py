"""What members of a shared store purge and keep to themselves of memories that others have a part in."""

import json
from contextlib import closing

import pytest

from memman.config.buried import Buried
from memman.config.tombstones import Tombstones
from memman.store.opening import open_store
from memman.store.postgres import turn, whole
from memman.store.replica import moving, position
from memman.store.sqlite.seal import reseal
from tests.support.machines import done

TEXT = "The yak in the yard eats graldimeth every Monday"
WORD = "graldimeth"


@pytest.fixture
def team(database, home):
    """Give alice, who owns a shared store, and bob, who writes to it."""
    people = {}
    for role in ("alice", "bob"):
        dsn, people[role] = database.role(role, "memman_writer"), home(role)
        if role == "bob":
            done(people["alice"], "store", "add-member", "team", database.called("bob"))
        made = ("--create",) if role == "alice" else ()
        done(people[role], "store", "connect", "team", "--dsn", "-", *made, input=f"{dsn}\n")
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
    rows = json.loads(done(box, "insights", "list", "--json", "--status", "all", "--limit", "100"))
    return next(row["uid"] for row in rows if part in row["text"])


def on_server(database):
    """Return the tables of the server that hold a word of the text."""
    tables = database.sql(r"SELECT tablename FROM pg_tables WHERE schemaname = 'memman' AND tablename !~ '_\d+$'")
    rows = {name: str(database.sql(f"SELECT t::text FROM memman.{name} t")).encode() for name in tables}
    return {name for name, said in rows.items() if WORD.encode() in said.lower()}


def on_machine(box):
    """Return the files of a data folder that hold a word of the text."""
    files = [path for path in box.data.rglob("*") if path.is_file()]
    return {path.name for path in files if WORD.encode() in path.read_bytes().lower()}


def lacking(box):
    """Return the tables of which a machine has other rows than the server shows its person, by their number."""
    with closing(open_store(str(box.data), "team")) as store, store.server.transaction() as db:
        turn.look(store.server, db, store.number, position.END)
        there, here = whole.counts(db, store.number), moving.rows(store)
    return {name: (here[name], there[name]) for name in here if here[name] != there[name]}


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
            assert unit.doubt(rows[uid], newer, 1, "no graldimeth any more")


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
@pytest.mark.parametrize("by", ["author", "other"])
def test_whoever_purges_what_is_shared_nothing_of_it_is_left(team, database, touch, by):
    """Whatever another member did with it, its author and the other purge it from the server and both machines."""
    alice, bob = team["alice"], team["bob"]
    told(alice, TEXT, "--visibility", "shared")
    drain(bob)
    touch(bob, the_id(bob, WORD))
    drain(alice)
    assert on_server(database)
    purger = alice if by == "author" else bob
    done(purger, "purge", the_id(purger, WORD))
    drain(alice, bob)
    assert on_server(database) == on_machine(alice) == on_machine(bob) == set()
    for box in (alice, bob):
        assert lacking(box) == {}
        told(box, TEXT, "--source", "agent")
        assert box.store("SELECT count(*) FROM memory WHERE text = ?", TEXT, name="team") == [0]


@pytest.mark.parametrize("touch", TOUCHES)
def test_what_its_author_unshares_others_see_nothing_of(team, database, touch):
    """Whatever another member did with it, a memory that its author unshares is in no row that the other sees."""
    alice, bob = team["alice"], team["bob"]
    told(alice, TEXT, "--visibility", "shared")
    drain(bob)
    uid = the_id(bob, WORD)
    touch(bob, uid)
    drain(alice)
    done(alice, "unshare", uid)
    drain(bob)
    (number,) = database.sql("SELECT id FROM memman.store")
    for table in ("log", "meta", "receipt", "evidence", "memory", "authorship", "link"):
        rows = database.sql(f"SELECT t::text FROM memman.{table} t", role="bob", store=number)
        assert not [row for row in rows if WORD in str(row) or (uid in str(row) and table != "receipt")], table
    for table in ("log", "meta", "receipt", "link", "memory"):
        rows = bob.store(f"SELECT * FROM {table}", name="team")
        assert not [row for row in rows if WORD in str(row) or (uid in str(row) and table != "receipt")], table
    assert lacking(bob) == lacking(alice) == {}
    assert the_id(alice, WORD) == uid
    done(alice, "share", uid)
    drain(bob)
    assert the_id(bob, WORD) == uid
    assert bob.memman("doctor", "--check", "integrity").returncode == 0


def test_what_its_author_unshares_marks_nothing_of_others(team):
    """A memory of another is maybe replaced no more by what that other sees no more, and no row of theirs names it."""
    alice, bob = team["alice"], team["bob"]
    told(bob, "The yak may eat hay by now", "--visibility", "shared")
    told(alice, TEXT, "--visibility", "shared")
    drain(bob)
    theirs, uid = the_id(bob, "hay"), the_id(alice, WORD)
    with closing(open_store(str(alice.data), "team")) as store, store.unit() as unit:
        rows = dict(store.db.execute("SELECT uid, id FROM memory"))
        image = json.dumps([["evidence", [rows[uid], "said", WORD], None, [1]]])
        unit.set_meta(f"maybe:{theirs}", None)
        assert unit.doubt(rows[theirs], rows[uid], 1, f"perhaps {WORD}")
        unit.db.execute("UPDATE receipt SET changed = ? WHERE note IN (SELECT note FROM memory WHERE uid = ?)",
                        (image, theirs))  # fmt: skip
    drain(bob)
    assert bob.store("SELECT value FROM meta WHERE key = ?", f"maybe:{theirs}", name="team") == [uid]
    done(alice, "unshare", uid)
    drain(bob)
    for table in ("log", "meta", "receipt"):
        rows = bob.store(f"SELECT * FROM {table}", name="team")
        assert not [row for row in rows if WORD in str(row) or uid in str(row)], table
    assert lacking(bob) == lacking(alice) == {}


@pytest.mark.parametrize("verb", ["purge", "unshare"])
def test_a_private_memory_beside_what_went_is_changed_as_ever(team, database, verb):
    """An edge from a private memory goes with the memory it leads to, and keeps nothing from being written after."""
    alice, bob = team["alice"], team["bob"]
    told(alice, TEXT, "--visibility", "shared")
    uid = the_id(alice, WORD)
    drain(bob)
    linked(bob, uid)
    done(alice, verb, uid)
    told(bob, "I feed the ox on Sundays", "--visibility", "private")
    done(bob, "graph", "link", the_id(bob, "groom"), the_id(bob, "feed"))
    memories = bob.store("SELECT id FROM memory", name="team")
    ends = bob.store("SELECT src, dst FROM link", name="team")
    assert {end for pair in ends for end in pair} <= {*memories}
    if verb == "purge":
        left = database.sql("SELECT id FROM memman.memory")
        assert {end for pair in database.sql("SELECT src, dst FROM memman.link") for end in pair} <= {*left}


def test_a_purge_that_the_server_refuses_leaves_all_as_it_was(team, database):
    """Nothing counts as purged, waiting notes wait, and the words are stored when an agent says them again."""
    alice, bob = team["alice"], team["bob"]
    told(alice, TEXT, "--visibility", "shared")
    drain(bob)
    uid = the_id(bob, WORD)
    waiting = bob.remember(f"{TEXT}, and waits", store="team")
    database.sql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no'; END $$;"
        "CREATE TRIGGER refuse BEFORE DELETE ON memman.authorship FOR EACH ROW EXECUTE FUNCTION refuse()"
    )
    assert bob.memman("purge", uid, waiting).returncode == 18
    assert bob.queue("SELECT uid FROM note") == [waiting]
    assert not Buried.load(str(bob.data)).says(TEXT)
    assert Tombstones.rows(str(bob.data)) == []
    database.sql("DROP TRIGGER refuse ON memman.authorship")
    drain(bob)
    assert len(bob.store("SELECT 1 FROM memory", name="team")) == 2
    done(bob, "purge", uid)
    assert Buried.load(str(bob.data)).says(TEXT)


def test_a_secret_in_what_another_says_is_for_its_author_to_take_out(team, database):
    """Bob's scan takes out what is his, names the rest and keeps it hidden; alice's takes that out for both."""
    token = "ghp_" + "Zk3vQ9tLw7Rb2Xy8Nc5Hd1Pf6Gj4Ms0Ua5Tq"
    alice, bob = team["alice"], team["bob"]
    for box, said in ((alice, "The yak in the yard"), (bob, "The goat on the roof")):
        told(box, f"{said} is fed with a token", "--visibility", "shared")
    drain(alice)
    leaks = f"text = replace(text, 'a token', '{token}')"
    database.sql(f"UPDATE memman.memory SET {leaks}, screened = 0")
    for box in (alice, bob):
        with closing(open_store(str(box.data), "team")) as store:
            store.db.execute(f"UPDATE memory SET {leaks}, screened = 0")
            reseal(store.db)
    ran = bob.person("scan", "--fix")
    assert ran.returncode == 1
    assert f"{the_id(bob, 'yak')[:8]}" in ran.stdout
    assert "an owner of the store" in " ".join(ran.stdout.split())
    texts = "SELECT text FROM memman.memory ORDER BY text"
    assert [token in text for text in database.sql(texts)] == [False, True]
    assert [token in text for text in bob.store("SELECT text FROM memory ORDER BY text", name="team")] == [False, True]
    assert token not in done(bob, "recall", "what is the yak fed with")
    assert alice.person("scan", "--fix").returncode == 0
    drain(bob)
    assert token not in str(database.sql(texts)) + str(bob.store("SELECT text FROM memory", name="team"))
