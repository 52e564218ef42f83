"""A store of an earlier schema is taken over: all of it or nothing, after a copy, and every row says what it said."""

import lzma
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from memman.model.errors import MemmanError, NewerSchema
from memman.queue import schema as queue_schema
from memman.recovery.check import troubles
from memman.sqlite import open_writer, upgrade
from memman.store.sqlite import index, record_log
from memman.store.sqlite.schema import STEPS, VERSION
from memman.store.sqlite.store import SqliteStore, open_store
from tests.support.box import PATIENCE, rows

# A queue and a store of the first schema, with memories, a rule, and two notes that wait.
FIRST = Path(__file__).parents[2] / "data/first_schema"
HELD = {
    "memory": "id, uid, note, text, entities, source, valid_from, valid_to, recorded_at, status, superseded_by, uses",
    "receipt": "note, at, outcome, facts, session, models",
    **dict.fromkeys("link vector code scoped freshness rule meta".split(), "*"),
}
BEFORE = 6
# Takes it over, and kills the process before its n-th statement.
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
from memman.store.sqlite.store import SqliteStore, open_store
SqliteStore(sys.argv[1])
"""


@pytest.fixture(name="path")
def _path(tmp_path):
    """Return a store of the first schema."""
    path = tmp_path / "data/one/memman.db"
    path.parent.mkdir(mode=0o700, parents=True)
    path.write_bytes(lzma.decompress((FIRST / "memman.db.xz").read_bytes()))
    path.chmod(0o600)
    return str(path)


def held(path):
    """Return what a store of any schema holds, by table."""
    with closing(apsw.Connection(path)) as db:
        return {
            table: list(db.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2")) for table, columns in HELD.items()
        } | {"meta": list(db.execute("SELECT * FROM meta WHERE key NOT GLOB 'protected:*' ORDER BY 1, 2"))}


def version(path):
    """Return a file's schema version."""
    with closing(apsw.Connection(path)) as db:
        return db.execute("PRAGMA user_version").get


def test_it_is_taken_over_once_and_says_what_it_said(path):
    """Every row is there, each is what its records say, and opening again changes nothing."""
    before, logs = held(path), []
    for _ in range(2):
        with closing(SqliteStore(path)) as store:
            logs.append(list(record_log.every(store.db)))
            for one in store.db.execute("SELECT uid FROM memory").fetchall():
                index.rewrite(store.db, one)
        assert held(path) == before
    assert logs[0] == logs[1]
    assert version(path) == VERSION


def test_the_old_file_is_copied_first(path):
    """Beside the store lies a sound copy of what it was, as private as the store."""
    before = held(path)
    SqliteStore(path).close()

    copy = f"{path}.schema-{BEFORE}.bak"
    assert rows(copy, "PRAGMA integrity_check") == ["ok"]
    assert (held(copy), version(copy), os.stat(copy).st_mode & 0o777) == (before, BEFORE, 0o600)


def test_a_failure_leaves_the_store_as_it_was(path):
    """Nothing of what was begun stays."""
    with closing(apsw.Connection(path)) as db:
        db.execute("ALTER TABLE receipt DROP COLUMN changed")
    before = held(path)
    with pytest.raises(MemmanError):
        SqliteStore(path)
    assert (held(path), version(path)) == (before, BEFORE)
    assert rows(path, "SELECT count(*) FROM sqlite_schema WHERE name = 'record'") == [0]


def test_an_older_memman_refuses_the_newer_store(path):
    """A store of a newer schema is refused and left untouched."""
    with closing(apsw.Connection(path)) as db:
        db.execute(f"PRAGMA user_version = {VERSION + 1}")
    with pytest.raises(NewerSchema):
        SqliteStore(path)
    assert version(path) == VERSION + 1


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
def test_killed_at_any_statement_it_is_old_or_new(path, rounds, kept):
    """Killed before each statement in turn, it has the old schema or the new one, and the next opening ends it."""
    store, n, seen = Path(path), 0, {BEFORE: 0, VERSION: 0}
    before, said, ended = store.read_bytes(), held(path), False
    while not ended:
        n += rounds(30, 1)
        for one in store.parent.iterdir():
            one.unlink()
        store.write_bytes(before)
        command = [sys.executable, "-c", KILLED, path, str(n)]
        child = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
        ended = child.returncode == 0
        assert ended or child.returncode == -signal.SIGKILL, child.stderr
        seen[version(path)] += 1
        SqliteStore(path).close()
        assert (held(path), version(path)) == (said, VERSION)
        assert not list(store.parent.glob("*.new*"))
    assert seen[BEFORE]
    assert seen[VERSION]
    kept(f"{sum(seen.values()) - 1} kills amid it: {seen[BEFORE]} old, {seen[VERSION] - 1} new, 0 between")


@pytest.mark.promise("R16")
def test_the_first_schema_opens_as_it_is(box):
    """What the first memman left is read, listed and drained; opening changes no row, and leaves the store's copy."""
    for name, path in (("queue.db", box.queue_path), ("memman.db", box.store_path())):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.write_bytes(lzma.decompress((FIRST / f"{name}.xz").read_bytes()))
        path.chmod(0o600)
    before = held(str(box.store_path()))
    assert troubles(str(box.store_path()), STEPS) == troubles(str(box.queue_path), queue_schema.STEPS) == ""
    for verb in ("status", "list", "recall"):
        still = box.memman("--readonly", verb, *["Valkey"][: verb == "recall"])
        assert (still.returncode, still.stderr.count("--readonly"), still.stderr.count("\n")) == (74, 1, 1)
    assert not [*box.data.rglob("*.bak")]
    assert box.memman("show", box.store("SELECT uid FROM memory LIMIT 1")[0]).returncode == 0
    open_store(str(box.data), "default").close()
    assert troubles(str(box.store_path()), STEPS) == ""
    assert held(str(box.store_path())) == before
    assert [copy.name for copy in box.data.rglob("*.bak")] == [f"memman.db.schema-{BEFORE}.bak"]
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
