"""Every released schema is brought to the newest with all it held; killed at any statement, it is old or new."""

import signal
import subprocess
import sys
from functools import partial

import apsw
import pytest

from memman.model.errors import NewerSchema
from memman.queue import schema as queue_schema
from memman.sqlite import open_writer, upgrade
from memman.store.sqlite import schema as store_schema
from memman.store.sqlite.schema import migrate
from memman.store.sqlite.seal import SEALED, sound

MEMORY = SEALED[1:]
# Opens a database, and kills the process before the n-th statement of the migration.
KILLED = """
import os, signal, sys
import apsw
left = int(sys.argv[3])
def trace(cursor, sql, bindings):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return True
def hooked(db):
    db.exec_trace = trace
apsw.connection_hooks.append(hooked)
if sys.argv[1] == "store":
    from memman.store.sqlite.store import SqliteStore as opened
else:
    from memman.queue.schema import open_queue as opened
opened(sys.argv[2])
print(left)
"""


def fill_store(db):
    """Put memories of every kind, and what goes with them, into a store of the first schema."""
    columns = ", ".join((*MEMORY, "uses"))
    statuses = ("current", "superseded", "forgotten")
    for n in range(1, 40):
        status = statuses[n % 3]
        db.execute(
            f"INSERT INTO memory({columns}) VALUES ({', '.join('?' * (len(MEMORY) + 1))})",
            (f"uid{n}", f"note{n // 2}", f"Text {n}: naïve 東京 \0 end", "fact", n % 5 + 1, '["A"]', "[]", "", "user",
             "@/x", n, None if n % 2 else n + 1, n, None, status, n + 1 if status == "superseded" else None, n),
        )  # fmt: skip
        db.execute("INSERT OR IGNORE INTO receipt(note, at, outcome) VALUES (?, ?, 'stored')", (f"note{n // 2}", n))
        db.execute("INSERT INTO link VALUES (?, ?, ?, 5000, '')", (n, n % 4, n + 1))
        db.execute("INSERT INTO fts(rowid, text, terms, context) VALUES (?, ?, '', '')", (n, f"Text {n}"))
        db.execute("INSERT INTO log(at, verb, memory) VALUES (?, 'add', ?)", (n, f"uid{n}"))
    db.execute("DELETE FROM memory WHERE id = 39")
    db.execute("INSERT INTO meta VALUES ('kept', 'yes')")


def fill_queue(db):
    """Put notes of every state into a queue of the first schema."""
    for n, state in enumerate(("pending", "running", "done", "parked") * 5):
        db.execute(
            "INSERT INTO note(uid, store, text, source, queued_at, state) VALUES (?, 'default', ?, 'user', ?, ?)",
            (f"uid{n}", f"Note {n} 東京", n, state),
        )
        db.execute("INSERT INTO journal VALUES (?, 'extract', '1', '{}')", (f"uid{n}",))
    db.execute("INSERT INTO ledger(day, stage, provider, model, calls) VALUES ('2026-01-01', 'extract', 'p', 'm', 3)")
    db.execute("INSERT INTO meta VALUES ('kept', 'yes')")


WAYS = {
    "store": (store_schema.STEPS, fill_store, migrate),
    "queue": (queue_schema.STEPS, fill_queue, partial(upgrade, checked=False)),
}
RELEASED = [(kind, n) for kind, (steps, *_) in WAYS.items() for n in range(1, len(steps))]


def make(kind, version, path):
    """Make a file of an old schema, with data in it."""
    steps, fill, way = WAYS[kind]
    db = open_writer(str(path), checked=kind == "store")
    way(db, str(path), steps[:1])
    fill(db)
    way(db, str(path), steps[:version])
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    db.close()
    for bak in path.parent.glob("*.bak"):
        bak.unlink()


# What later schemas brought, or have more columns of; of these the columns that were there from the first.
NEWER = """
authorship edge_kind evidence file freshness rejected rule scope scoped shown sqlite_stat1 sqlite_stat4
""".split()
FIRST = {
    "receipt": "note, at, outcome, facts",
    "ledger": "day, stage, provider, model, calls",
}


def dump(path):
    """Return what must outlive every migration, and the schema version."""
    db = apsw.Connection(str(path))
    tables = [name for (name,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    kept = {
        name: sorted(db.execute(f"SELECT {FIRST.get(name, '*')} FROM {name}"), key=str)
        for name in tables
        if name not in {"memory", "note", "journal", *NEWER}
    }
    if "memory" in tables:
        kept["memory"] = list(db.execute(f"SELECT id, {', '.join(MEMORY)}, uses FROM memory ORDER BY id"))
        kept["sqlite_sequence"] = sorted(kept["sqlite_sequence"])
        kept["found"] = list(db.execute("SELECT rowid FROM fts WHERE fts MATCH 'text' ORDER BY 1"))
    if "note" in tables:
        kept["note"] = list(db.execute("SELECT id, uid, store, text, source, queued_at, state FROM note ORDER BY id"))
        kept["journal"] = list(db.execute("SELECT note, stage, version, output FROM journal"))
    version = db.execute("PRAGMA user_version").get
    assert db.execute("PRAGMA integrity_check").get == "ok"
    db.close()
    return kept, version


def bring(kind, path):
    """Bring a file to the newest schema."""
    steps, _, way = WAYS[kind]
    db = open_writer(str(path), checked=kind == "store")
    way(db, str(path), steps)
    db.close()


@pytest.mark.promise("R16")
@pytest.mark.parametrize(("kind", "version"), RELEASED)
def test_a_released_schema_is_upgraded_with_all_it_held(tmp_path, kind, version):
    """The newest schema holds what the old one did, a second upgrade changes nothing, older code refuses it."""
    path = tmp_path / "x" / "memman.db"
    make(kind, version, path)
    before, was = dump(path)
    assert was == version
    bring(kind, path)
    once = dump(path)
    assert once == (before, len(WAYS[kind][0]))
    bring(kind, path)
    assert dump(path) == once
    with pytest.raises(NewerSchema) as refused:
        WAYS[kind][2](apsw.Connection(str(path)), str(path), WAYS[kind][0][:version])
    assert refused.value.exit_code == 14
    assert dump(path) == once


@pytest.mark.promise("R16")
def test_an_upgrade_killed_at_any_statement_leaves_old_or_new(tmp_path, rounds, kept):
    """Killed before each statement in turn, an upgrade leaves the old file or the new one, and the next finishes."""
    seen, kills = {"old": 0, "new": 0}, 0
    for kind, version in RELEASED:
        model = tmp_path / f"{kind}{version}" / "memman.db"
        make(kind, version, model)
        before, _ = dump(model)
        n, ended = 0, False
        while not ended:
            n += rounds(9, 1)
            path = tmp_path / f"{kind}{version}-{n}" / "memman.db"
            path.parent.mkdir(mode=0o700)
            path.write_bytes(model.read_bytes())
            path.chmod(0o600)
            child = subprocess.run(
                [sys.executable, "-c", KILLED, kind, str(path), str(n)], capture_output=True, text=True, check=False
            )
            ended = child.returncode == 0
            assert ended or child.returncode == -signal.SIGKILL, child.stderr
            kills += not ended
            held, now = dump(path)
            assert held == before
            assert now in {version, len(WAYS[kind][0])}
            seen["new" if now == len(WAYS[kind][0]) else "old"] += 1
            bring(kind, path)
            assert dump(path) == (before, len(WAYS[kind][0]))
            assert not list(path.parent.glob("*.new*"))
    assert seen["old"]
    assert seen["new"]
    kept(f"{len(RELEASED)} schemas upgraded; {kills} kills: {seen['old']} old, {seen['new']} new, 0 between")


def test_upgraded_memories_carry_their_digest_and_ids_go_on(tmp_path):
    """Each memory's digest says what it said before, and a deleted last row's number is not given again."""
    path = tmp_path / "x" / "memman.db"
    make("store", 1, path)
    bring("store", path)
    db = apsw.Connection(str(path))
    assert all(sound(row) for row in db.execute(f"SELECT {', '.join(SEALED)}, digest FROM memory"))
    values = ", ".join(f"'{name}'" for name in MEMORY[:3])
    sql = "INSERT INTO memory(uid, note, text, category, importance, entities, keywords, summary, source, origin,"
    db.execute(f"{sql} valid_from, recorded_at) VALUES ({values}, 'fact', 3, '[]', '[]', '', 'user', '', 1, 1)")
    assert db.last_insert_rowid() == 40
