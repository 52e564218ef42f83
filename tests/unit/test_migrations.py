"""A store brought to a newer schema: all of a step or none of it, after a copy."""

import subprocess
import sys
import time
from functools import partial

import apsw
import pytest

from conftest import NOTE, PATIENCE, rows
from memman.model.errors import MemmanError, NewerSchema
from memman.queue import schema as queue_schema
from memman.sqlite import open_writer, upgrade
from memman.store.sqlite.schema import STEPS, migrate
from memman.store.sqlite.store import SqliteStore

NEXT = (*STEPS, "ALTER TABLE memory ADD COLUMN mood TEXT; CREATE TABLE extra(x);")
# What the first users after an upgrade do, each a process of its own, at once.
FIRST = {
    "append": "from memman.queue.append import append; append(data, note)",
    "queue": "from memman.queue.notes import Queue; Queue(data).close()",
    "store": "from memman.store.sqlite.store import SqliteStore; SqliteStore.open(data, 'default').close()",
}
USER = "import sys; data, note = sys.argv[1], {note}; print('ready', flush=True); sys.stdin.read(); {work}"
BROKEN = (*STEPS, "CREATE TABLE extra(x); CREATE TABLE memory(x);")


@pytest.fixture(name="path")
def _path(tmp_path):
    """Return a store of the first schema that holds a setting."""
    path = str(tmp_path / "data/one/memman.db")
    store = SqliteStore(path)
    with store.unit() as unit:
        unit.set_meta("kept", "yes")
    store.close()
    return path


def version(path):
    """Return a file's schema version."""
    return apsw.Connection(path).execute("PRAGMA user_version").get


def test_a_step_is_taken_once_and_keeps_what_was_there(path):
    """The new column is there, the old rows too, and opening again changes nothing."""
    for _ in range(2):
        store = SqliteStore(path, NEXT)
        assert store.reader.meta("kept") == "yes"
        assert store.db.execute("SELECT mood FROM memory").get is None
        store.close()

    assert version(path) == len(NEXT)


def test_the_old_file_is_copied_first(path):
    """Beside the upgraded store lies a sound copy of what it was, as private as the store."""
    SqliteStore(path, NEXT).close()

    copy = apsw.Connection(f"{path}.schema-{len(STEPS)}.bak")
    assert copy.execute("PRAGMA integrity_check").get == "ok"
    assert copy.execute("SELECT value FROM meta WHERE key = 'kept'").get == "yes"
    assert copy.execute("PRAGMA user_version").get == len(STEPS)


def test_a_step_that_fails_leaves_the_store_as_it_was(path):
    """Nothing of a failed step stays, and the store still opens with the old schema."""
    with pytest.raises(MemmanError):
        SqliteStore(path, BROKEN)

    store = SqliteStore(path)
    assert store.reader.meta("kept") == "yes"
    assert store.db.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'extra'").get == 0
    store.close()


def test_an_older_memman_refuses_the_newer_store(path):
    """A store of a newer schema is refused and left untouched."""
    SqliteStore(path, NEXT).close()

    with pytest.raises(NewerSchema):
        SqliteStore(path)
    assert version(path) == len(NEXT)


def test_a_log_that_another_program_took_away_is_given_back(box):
    """After PRAGMA journal_mode=DELETE notes and drains go on, and a drain has both files keep a log again."""
    box.remember("Redis caches the invoices.")
    box.drain()
    for path in (box.queue_path, box.store_path()):
        assert rows(path, "PRAGMA journal_mode=DELETE") == ["delete"]
    box.remember("Vite builds the frontend.")
    assert box.drain().done == 1
    assert box.queue("PRAGMA journal_mode") == box.store("PRAGMA journal_mode") == ["wal"]
    assert len(box.store("SELECT text FROM memory")) == 2


@pytest.mark.promise("R16")
@pytest.mark.parametrize("what", FIRST)
def test_first_users_at_once_are_all_served(box, rounds, kept, what):
    """Eight processes that open an old queue or store at once all come through, and beside it lies one whole copy."""
    path = box.store_path() if what == "store" else box.queue_path
    steps = STEPS if what == "store" else queue_schema.STEPS
    wanted, served = rounds(2, 10), 0
    for _ in range(wanted):
        for old in path.parent.glob(f"{path.name}*"):
            old.unlink()
        fill(path, what, steps)
        users = [first(box, what, n) for n in range(8)]
        for user in users:
            assert user.stdout.readline() == "ready\n"
        for user in users:
            user.stdin.close()
            user.stdin = None
        said = [user.communicate(timeout=PATIENCE)[1] for user in users]
        served += sum(user.returncode == 0 for user in users)
        assert said == [""] * 8
        assert version(str(path)) == len(steps)
        assert [one.name for one in path.parent.glob("*.bak*")] == [f"{path.name}.schema-1.bak"]
        assert version(f"{path}.schema-1.bak") == 1
        assert rows(f"{path}.schema-1.bak", "SELECT count(*) FROM meta") == [2000]
    assert served == 8 * wanted
    if what == "append":
        assert box.states() == {"pending": 8}
    kept(f"{served} of {8 * wanted} first users at once served ({what})")


# Makes a queue in folder after folder, each at the moment that is named on standard input.
MAKER = """
import sys, time
from memman.queue.schema import open_queue
print("ready", flush=True)
for line in sys.stdin:
    at, path = line.split()
    while time.time() < float(at):
        pass
    open_queue(path).close()
"""


def test_makers_at_the_same_moment_are_all_served(box, tmp_path):
    """Nobody is refused in the moment in which a new file is given its log, when SQLite does not wait by itself."""
    piped = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    users = [subprocess.Popen((sys.executable, "-c", MAKER), env=box.environ, **piped) for _ in range(4)]
    for user in users:
        assert user.stdout.readline() == "ready\n"
    begin = time.time() + 0.05
    script = "".join(f"{begin + n / 50} {tmp_path}/{n}/queue.db\n" for n in range(150))
    for user in users:
        user.stdin.write(script)
        user.stdin.close()
        user.stdin = None
    said = [user.communicate(timeout=PATIENCE)[1] for user in users]
    assert said == [""] * 4


def test_who_reads_a_file_that_has_no_log_yet_is_not_waited_for_without_end(tmp_path, monkeypatch):
    """SQLite waits by itself for a reader to be done; that it waited once more is enough to give up."""
    path = str(tmp_path / "queue.db")
    db = open_writer(path, checked=False)
    reads = "import sys, apsw; db = apsw.Connection(sys.argv[1]); db.execute('BEGIN; SELECT * FROM sqlite_master').get;"
    hold = f"{reads} print(flush=True); sys.stdin.read()"
    with subprocess.Popen((sys.executable, "-c", hold, path), stdin=subprocess.PIPE, stdout=subprocess.PIPE) as reader:
        assert reader.stdout.readline() == b"\n"
        tries = []
        db.set_busy_timeout(200)
        db.trace_v2(apsw.SQLITE_TRACE_STMT, lambda ran: tries.append(ran["sql"]))
        monkeypatch.setattr("memman.sqlite.WAIT_MS", 200)
        with pytest.raises(apsw.BusyError):
            upgrade(db, path, queue_schema.STEPS, checked=False)
        reader.communicate(b"")
    assert len([sql for sql in tries if "journal_mode" in sql]) in {2, 3}
    db.trace_v2(0, None)
    upgrade(db, path, queue_schema.STEPS, checked=False)
    assert version(path) == len(queue_schema.STEPS)


def fill(path, what, steps):
    """Make a file of the first schema that holds enough to take a while."""
    db = open_writer(str(path), checked=what == "store")
    (migrate if what == "store" else partial(upgrade, checked=False))(db, str(path), steps[:1])
    db.executemany("INSERT INTO meta VALUES (?, ?)", [(str(n), "x" * 2000) for n in range(2000)])
    db.close()


def first(box, what, number):
    """Start one of the first users; it waits for its input's end."""
    code = USER.format(note=NOTE | {"text": f"Note {number}."}, work=FIRST[what])
    streams = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code, str(box.data)], env=box.environ, text=True, **streams)
