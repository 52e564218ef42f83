"""A store taken to a server and back: the same memories under the same numbers, whatever cuts the way short."""

import random
import shutil
import signal
import sys

import pytest

from bench import sizes
from memman.govern import migration, sharing
from memman.store.postgres import turn
from memman.store.replica import moving
from tests.support.box import no
from tests.support.machines import connected, done, to_server, unsigned_export
from tests.support.portable import answers, filled


@pytest.fixture
def full(box, filled_once):
    """Give a box whose store has something of everything."""
    if not filled_once.exists():
        filled(box, 60)
        shutil.copytree(box.data, filled_once)
    elif not box.data.exists():
        shutil.copytree(filled_once, box.data)
        (box.data / "owner").unlink(missing_ok=True)
    return box


@pytest.fixture(scope="module")
def filled_once(tmp_path_factory):
    """Give the place of the data folder that the first test fills."""
    return tmp_path_factory.mktemp("full") / "memman"


def test_a_store_goes_to_a_server_and_back(full, dsn, home, database):
    """Exports and the answers to 200 questions are the same before, on a server, on another machine, and after."""
    before, said = unsigned_export(full), answers(full)
    told = to_server(full, dsn)
    assert "is on its server" in told
    assert "before-migrate" in told
    assert (unsigned_export(full), answers(full)) == (before, said)
    other = connected(home("other"), dsn)
    assert unsigned_export(other)[1] == [line for line in before[1] if '"kind":"purged"' not in line]
    assert answers(other) == said
    assert "this machine's own" in done(full, "migrate", "--to", "sqlite")
    assert (unsigned_export(full), answers(full)) == (before, said)
    assert full.store("SELECT author, visibility, retired_by FROM authorship") == [("alice", "shared", "bob")]
    assert not (full.data / "env.default").read_text()
    assert database.sql("SELECT name FROM memman.store") == ["default"]


def test_it_is_done_once(full, dsn):
    """The same command again says that there is nothing to do, both ways."""
    to_server(full, dsn)
    assert "already" in to_server(full, dsn)
    done(full, "migrate", "--to", "sqlite")
    assert "already" in done(full, "migrate", "--to", "sqlite")


def test_a_dry_run_says_what_would_go_and_changes_nothing(full, dsn, database):
    """It counts the rows of each table, and names a store that the server has."""
    said = done(full, "migrate", "--to", "postgres", "--dsn", "-", "--dry-run", input=dsn)
    assert f" {full.store('SELECT count(*) FROM memory')[0]}\n" in said
    assert database.sql("SELECT count(*) FROM memman.store") == [0]
    assert not (full.data / "env.default").exists()
    assert not (full.data / "backups").exists()


def test_a_machine_that_connects_has_what_search_asks(full, dsn, monkeypatch, home):
    """However the way there was cut into parts, sign codes, counts of names and the text index are the same."""
    monkeypatch.setattr(moving, "_ROWS", 30)
    migration.to_server(str(full.data), "default", dsn, lambda done, total: None)  # noqa: ARG005 - nobody looks on
    other = home("other")
    monkeypatch.setattr(turn, "PAGE", 20)
    sharing.connect(str(other.data), "default", dsn, make=False, progress=lambda done, total: None)  # noqa: ARG005
    for sql in (
        "SELECT * FROM code ORDER BY embedder, memory",
        "SELECT name, count FROM entity ORDER BY name",
        "SELECT repository, path FROM scope ORDER BY 1, 2",
        "SELECT rowid FROM fts ORDER BY rowid",
        "SELECT rowid, bm25(fts) FROM fts WHERE fts MATCH 'the OR we' ORDER BY rowid",
    ):
        assert other.store(sql) == full.store(sql), sql


# Dies before or after the n-th step: on the way up each time that rows go up, or that the way so far is kept, and on
# the way back each time that the server is looked at, and at the backup and all that is kept of what was done.
DYING = """
import os, signal, sys
from memman.govern import migration
from memman.store.replica import moving
data, dsn, left, when, moving._ROWS = *sys.argv[1:3], int(sys.argv[3]), sys.argv[4], int(sys.argv[5])
def mortal(owner, name):
    step = getattr(owner, name)
    def dies(*args, **more):
        global left
        left -= 1
        if not left and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = step(*args, **more)
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    setattr(owner, name, dies)
if dsn:
    mortal(moving.turn, "push"), mortal(moving, "_keep")
    migration.to_server(data, "default", dsn, lambda done, total: None)
else:
    mortal(moving.turn, "look"), mortal(moving.position, "leave"), mortal(migration, "take")
    mortal(moving, "let_go"), mortal(migration, "change")
    migration.to_itself(data, "default", lambda done, total: None)
"""
# Rows a turn: fewer than usual, so that a small store takes several.
FEW = 200

# Where the way back is cut: in the two looks at the server, before it is taken note that all is here and after, and at
# what is left to do then. (step, when)
BACK = [
    *((step, when) for step in (1, 2) for when in ("before", "after")),
    *((step, "before") for step in (3, 4)),
    *((1, "before"), (1, "after"), (1, "before"), (1, "after")),
]


def killed(box, dsn, step, when, rows=FEW):
    """Kill a way to the server, or without an address the way back, before or after a step of it."""
    process = box.start(sys.executable, "-c", DYING, str(box.data), dsn, str(step), when, str(rows))
    assert process.communicate() == ("", "")
    assert process.returncode == -signal.SIGKILL


@pytest.fixture
def large(request, box, rounds, tmp_path):
    """Give a box whose store has something of everything, and in the long form 10,000 memories beneath it."""
    beneath = rounds(0, 10_000)
    if not beneath:
        return request.getfixturevalue("full")
    sizes.build(str(tmp_path / "sizes"), [beneath], print, fresh=False)
    shutil.copytree(tmp_path / "sizes" / str(beneath) / "data", box.data / "data")
    filled(box, 200)
    return box


def test_killed_ten_times_each_way_it_goes_on(large, dsn, home, database, rounds):
    """Killed at any point on the way there or back, the same goes on, and exports and answers are as before."""
    before, said = unsigned_export(large), answers(large)
    chance = random.Random(15)
    for _ in range(10):
        place = chance.randint(1, rounds(4, 18)), chance.choice(("before", "after"))
        killed(large, dsn, *place, rows=rounds(FEW, 5_000))
    there = database.sql("SELECT count(*) FROM memman.change")[0]
    assert "is on its server" in to_server(large, dsn)
    assert 0 < there < database.sql("SELECT count(*) FROM memman.change")[0]
    assert (unsigned_export(large), answers(large)) == (before, said)
    other = connected(home("other"), dsn)
    assert answers(other) == said
    for place in BACK:
        killed(large, "", *place)
    assert "this machine's own" in done(large, "migrate", "--to", "sqlite")
    assert (unsigned_export(large), answers(large)) == (before, said)


def started(box, dsn):
    """Have a store's way to the server cut short."""
    killed(box, dsn, 3, "after")


def test_on_its_way_a_store_is_only_read(full, dsn, home):
    """Nobody connects to half a store, and what is remembered meanwhile waits until all of it is there."""
    said = answers(full)
    started(full, dsn)
    other = home("other")
    assert "still being given" in other.memman("store", "connect", "default", "--dsn", "-", input=dsn).stderr
    assert not other.store_path().exists()
    full.remember("The lighthouse lamp was replaced in May.")
    full.drain()
    assert full.states()["pending"] == 1
    assert full.queue("SELECT attempts FROM note WHERE state = 'pending'") == [0]
    refused = full.memman("forget", full.store("SELECT uid FROM memory WHERE status = 'current'")[0])
    assert refused.returncode == 18
    assert "on its way to a server" in refused.stderr
    assert answers(full) == said
    to_server(full, dsn)
    full.drain()
    assert full.recall("lighthouse lamp")


def test_a_way_that_is_given_up_leaves_nothing(full, dsn, database):
    """`--to sqlite` amid it: the store is its own again, and the server has nothing of it."""
    before = unsigned_export(full)
    started(full, dsn)
    done(full, "migrate", "--to", "sqlite")
    assert unsigned_export(full) == before
    assert database.sql("SELECT (SELECT count(*) FROM memman.store) + (SELECT count(*) FROM memman.memory)") == [0]
    assert database.sql("SELECT count(*) FROM memman.change") == [0]
    assert full.store("SELECT count(*) FROM meta WHERE key GLOB 'replica:*'") == [0]


def test_removing_from_the_server_asks_a_person(full, dsn, database):
    """The server's store stays; asked for, and confirmed, it goes, unless others are members of it."""
    before = unsigned_export(full)
    to_server(full, dsn)
    database.sql("INSERT INTO memman.member SELECT id, 'somebody', 'read' FROM memman.store")
    assert "others are members" in run_fails(full, "migrate", "--to", "sqlite", "--remove-from-server")
    database.sql("DELETE FROM memman.member WHERE role = 'somebody'")
    assert full.person("migrate", "--to", "sqlite", "--remove-from-server", answer=no).returncode == 77
    assert database.sql("SELECT count(*) FROM memman.store") == [1]
    assert full.person("migrate", "--to", "sqlite", "--remove-from-server").returncode == 0
    assert unsigned_export(full) == before
    assert database.sql("SELECT (SELECT count(*) FROM memman.store) + (SELECT count(*) FROM memman.memory)") == [0]


ENDING = """
import os, signal, sys
from memman.govern import migration
from memman.store.replica import moving
moving.let_go = lambda store: os.kill(os.getpid(), signal.SIGKILL)
migration.to_itself(sys.argv[1], "default", lambda done, total: None, remove=True)
"""


def test_killed_once_the_server_has_nothing_left_it_goes_on(full, dsn, database):
    """The same command again finds the server's store deleted by itself, and makes the rest this machine's own."""
    before = unsigned_export(full)
    to_server(full, dsn)
    process = full.start(sys.executable, "-c", ENDING, str(full.data))
    assert process.communicate() == ("", "")
    assert database.sql("SELECT count(*) FROM memman.store") == [0]
    drained = full.memman("scheduler", "drain")
    assert "memman migrate --to sqlite --store default" in drained.stderr
    ran = full.person("migrate", "--to", "sqlite", "--remove-from-server")
    assert ran.returncode == 0, ran.stderr
    assert unsigned_export(full) == before
    assert not (full.data / "env.default").read_text()


def run_fails(box, *args):
    """Run a command at a terminal that must fail in a line; return what it says."""
    ran = box.person(*args)
    assert ran.returncode not in {0, 1}
    return ran.stderr


def test_a_name_that_is_taken_is_refused_at_once(full, dsn, home, database):
    """The server's store of that name is left alone, and so is ours."""
    to_server(full, dsn)
    other = home("other")
    other.memman("remember", "The tide table hangs in the hall.")
    other.memman("scheduler", "drain")
    refused = other.memman("migrate", "--to", "postgres", "--dsn", "-", input=dsn)
    assert refused.returncode == 18
    assert "has a store 'default' already" in refused.stderr
    assert not (other.data / "env.default").exists()
    assert other.store("SELECT count(*) FROM meta WHERE key GLOB 'replica:*'") == [0]
    other.memman("remember", "The tide table was taken down.")
    assert other.memman("scheduler", "drain").returncode == 0
    assert unsigned_export(full)[0]["memories"] == database.sql("SELECT count(*) FROM memman.memory")[0]
