"""A store brought to a newer schema: all of a step or none of it, after a copy; the first one opens as it is."""

import lzma
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from memman.model.errors import MemmanError, NewerSchema
from memman.queue import schema as queue_schema
from memman.recovery.check import troubles
from memman.sqlite import open_writer, upgrade
from memman.store.sqlite.schema import STEPS, VERSION
from memman.store.sqlite.store import SqliteStore
from tests.support.box import PATIENCE, rows

NEXT = STEPS | {VERSION + 1: "ALTER TABLE memory ADD COLUMN mood TEXT; CREATE TABLE extra(x);"}
BROKEN = STEPS | {VERSION + 1: "CREATE TABLE extra(x); CREATE TABLE memory(x);"}
# A queue and a store of the first schema, with memories, a rule, and two notes that wait.
FIRST = Path(__file__).parents[2] / "data/first_schema"
HELD = "memory receipt link mention vector code scoped freshness rule log meta".split()
# Takes the next step, and kills the process before its n-th statement.
KILLED = """
import os, signal, sys
import apsw
left = int(sys.argv[2])
def trace(cursor, sql, bindings):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return True
def hooked(db):
    db.exec_trace = trace
apsw.connection_hooks.append(hooked)
from memman.store.sqlite.schema import STEPS, VERSION
from memman.store.sqlite.store import SqliteStore
SqliteStore(sys.argv[1], STEPS | {VERSION + 1: "ALTER TABLE memory ADD COLUMN mood TEXT; CREATE TABLE extra(x);"})
"""


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

    assert version(path) == max(NEXT)


def test_the_old_file_is_copied_first(path):
    """Beside the upgraded store lies a sound copy of what it was, as private as the store."""
    SqliteStore(path, NEXT).close()

    copy = apsw.Connection(f"{path}.schema-{VERSION}.bak")
    assert copy.execute("PRAGMA integrity_check").get == "ok"
    assert copy.execute("SELECT value FROM meta WHERE key = 'kept'").get == "yes"
    assert copy.execute("PRAGMA user_version").get == VERSION


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
    assert version(path) == max(NEXT)


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
def test_a_step_killed_at_any_statement_leaves_old_or_new(path, rounds, kept):
    """Killed before each statement in turn, a step leaves the old schema or the new one, and the next opening ends."""
    store, n, seen = Path(path), 0, {VERSION: 0, max(NEXT): 0}
    SqliteStore(path).close()
    before, ended = store.read_bytes(), False
    while not ended:
        n += rounds(4, 1)
        for one in store.parent.iterdir():
            one.unlink()
        store.write_bytes(before)
        command = [sys.executable, "-c", KILLED, path, str(n)]
        child = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
        ended = child.returncode == 0
        assert ended or child.returncode == -signal.SIGKILL, child.stderr
        seen[version(path)] += 1
        opened = SqliteStore(path, NEXT)
        assert (opened.reader.meta("kept"), version(path)) == ("yes", max(NEXT))
        opened.close()
        assert not list(store.parent.glob("*.new*"))
    assert seen[VERSION]
    assert seen[max(NEXT)]
    kept(f"{sum(seen.values()) - 1} kills amid a step: {seen[VERSION]} old, {seen[max(NEXT)] - 1} new, 0 between")


@pytest.mark.promise("R16")
def test_the_first_schema_opens_as_it_is(box):
    """What the first memman left is read, listed and drained; opening changes no row, and leaves the store's copy."""
    for name, path in (("queue.db", box.queue_path), ("memman.db", box.store_path())):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(lzma.decompress((FIRST / f"{name}.xz").read_bytes()))
        path.chmod(0o600)
    before = {table: box.store(f"SELECT * FROM {table}") for table in HELD}
    assert troubles(str(box.store_path()), STEPS) == troubles(str(box.queue_path), queue_schema.STEPS) == ""
    assert box.memman("why", box.store("SELECT uid FROM memory LIMIT 1")[0]).returncode == 0
    SqliteStore.open(str(box.data), "default").close()
    assert {table: box.store(f"SELECT * FROM {table}") for table in HELD} == before
    assert [copy.name for copy in box.data.rglob("*.bak")] == ["memman.db.schema-6.bak"]
    assert "Valkey 8" in box.recall("where does billing cache invoices")[0]
    assert "30 days" in box.recall("how long are backups of db-02 kept")[0]
    assert box.memman("rule", "list").stdout.count("git push") == 1
    report = box.drain()
    assert (report.done, report.errors, box.states()) == (2, [], {"done": 7})
    assert len(box.store("SELECT uid FROM memory")) == len(before["memory"]) + 2


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
    assert version(path) == queue_schema.VERSION
