"""A store taken to a server and back: the same memories and answers, whatever cuts the way short."""

import random
import shutil
import signal
import sys

import pytest

from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore
from tests.support.machines import connected, done, to_server
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


def states(box):
    """Return the state of everything, but for who said it: a server knows us by a role."""
    store = SqliteStore(str(box.store_path()))
    found = {uid: index.state(store.db, uid) for uid in record_log.memories(store.db)}
    store.close()
    return {
        uid: {part: said for part, said in state.items() if part not in {"author", "retired_by"}}
        for uid, state in found.items()
        if state
    }


def said(box):
    """Return what recall answers to 200 questions, but for whose it is and the vectors that are made in idle time."""
    return [[hit[0]["uid"] for hit in hits] for hits in answers(box)]


def test_a_store_goes_to_a_server_and_back(full, dsn, home, database):
    """States and answers are the same before, on a server, on another machine, and after."""
    before, heard = states(full), answers(full)
    told = to_server(full, dsn)
    assert "is on its server" in told
    assert "before-migrate" in told
    assert (states(full), answers(full)) == (before, heard)
    other = connected(home("other"), dsn)
    assert states(other) == before
    done(other, "scheduler", "drain")
    assert [set(uids) for uids in said(other)] == [set(uids) for uids in said(full)]
    assert "this machine's own" in done(full, "migrate", "--to", "sqlite")
    assert (states(full), answers(full)) == (before, heard)
    assert not (full.data / "env.default").read_text()
    assert database.sql("SELECT name FROM memman.store") == ["default"]


def test_it_is_done_once(full, dsn):
    """The same command again says that there is nothing to do, both ways."""
    to_server(full, dsn)
    assert "already" in to_server(full, dsn)
    done(full, "migrate", "--to", "sqlite")
    assert "already" in done(full, "migrate", "--to", "sqlite")


# Dies before or after the n-th step: each page that is sent, and all that is kept of what was done.
DYING = """
import os, signal, sys
from memman.commands import team as migration
from memman.store.postgres import exchange
data, dsn, left, when = *sys.argv[1:3], int(sys.argv[3]), sys.argv[4]
exchange.PAGE = 10
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
mortal(migration, "take"), mortal(migration, "change"), mortal(migration, "_exchanged")
mortal(exchange, "connect"), mortal(exchange, "_told"), mortal(exchange, "disconnect")
if dsn:
    migration.to_server(data, "default", dsn)
else:
    migration.to_itself(data, "default")
"""


def killed(box, dsn, step, when):
    """Kill a way to the server, or without an address the way back, before or after a step of it."""
    process = box.start(sys.executable, "-c", DYING, str(box.data), dsn, str(step), when)
    assert process.communicate() == ("", "")
    assert process.returncode == -signal.SIGKILL


def test_killed_ten_times_each_way_it_goes_on(full, dsn, home):
    """Killed at any point on the way there or back, the same goes on, and states and answers are as before."""
    before, heard = states(full), answers(full)
    chance = random.Random(15)
    for _ in range(5):
        killed(full, dsn, chance.randint(1, 60), chance.choice(("before", "after")))
    assert "is on its server" in to_server(full, dsn)
    assert (states(full), answers(full)) == (before, heard)
    assert states(connected(home("other"), dsn)) == before
    for step in (1, 2, 3):
        killed(full, "", step, "before")
    assert full.memman("migrate", "--to", "sqlite").returncode == 0
    assert (states(full), answers(full)) == (before, heard)
    assert not (full.data / "env.default").read_text()


def test_a_name_that_is_taken_is_refused_at_once(full, dsn, home, database):
    """The server's store of that name is left alone, and so is ours."""
    to_server(full, dsn)
    there = database.sql("SELECT count(*) FROM memman.record")
    other = home("other")
    other.memman("remember", "The tide table hangs in the hall.")
    other.memman("scheduler", "drain")
    refused = other.memman("migrate", "--to", "postgres", "--dsn", "-", input=dsn)
    assert refused.returncode == 18
    assert "has a store 'default' already" in refused.stderr
    assert not (other.data / "env.default").exists()
    assert other.memman("scheduler", "drain").returncode == 0
    assert database.sql("SELECT count(*) FROM memman.record") == there


def test_a_copy_of_the_data_folder_goes_on_under_its_own_number(box, dsn, database):
    """Two machines whose folders are copies of each other, or one that was put back, lose nothing of either."""
    box.remember("The lighthouse lamp is serviced every May.")
    box.drain()
    to_server(box, dsn)
    copy = type(box)(box.data.with_name("copy"), box.environ | {"MEMMAN_DATA_DIR": str(box.data.with_name("copy"))})
    shutil.copytree(box.data, copy.data)
    (copy.data / "owner").unlink(missing_ok=True)
    for each, text in ((box, "The tide table hangs in the hall."), (copy, "The boathouse key is under the step.")):
        done(each, "remember", text)
        done(each, "scheduler", "drain")
    done(box, "scheduler", "drain")
    assert len(box.store("SELECT text FROM memory")) == len(copy.store("SELECT text FROM memory")) == 3
    assert states(box) == states(copy)
    assert database.sql("SELECT count(*) FROM memman.host") == [2]
