"""Databases of another program, as memman 0.15 keeps them at the same place: they are named and left as they are."""

import apsw
import pytest

from memman.model.errors import OtherProgram

STORE = (
    "CREATE TABLE insights (id TEXT PRIMARY KEY, content TEXT NOT NULL, created_at TEXT NOT NULL, deleted_at TEXT)",
    "CREATE TABLE edges (source_id TEXT NOT NULL, target_id TEXT NOT NULL, edge_type TEXT NOT NULL)",
    "CREATE TABLE oplog (id INTEGER PRIMARY KEY AUTOINCREMENT, operation TEXT NOT NULL, insight_id TEXT)",
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
    "INSERT INTO insights VALUES ('a1', 'We use Postgres.', '2026-01-01', NULL)",
)
QUEUE = (
    "CREATE TABLE queue (id INTEGER PRIMARY KEY AUTOINCREMENT, store TEXT NOT NULL, content TEXT NOT NULL)",
    "CREATE TABLE worker_runs (id INTEGER PRIMARY KEY AUTOINCREMENT, started_at INTEGER NOT NULL)",
)
VERBS = (
    ("recall", "Postgres"),
    ("list",),
    ("scheduler", "drain"),
    ("export", "-"),
    ("repair", "--store", "default"),
)
PLACES = ("data/default/memman.db", "queue.db")


@pytest.fixture(name="older", params=[(PLACES[:1], 0), (PLACES, 0), (PLACES[:1], 3)], ids=["store", "both", "numbered"])
def _older(box, request):
    """Give a box whose data folder is one of memman 0.15, with its queue and without, whatever its schema's number."""
    names, number = request.param
    for name in names:
        path = box.data / name
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        db = apsw.Connection(str(path))
        db.execute("PRAGMA journal_mode=WAL")
        db.execute(f"PRAGMA user_version={number}")
        for sql in QUEUE if name == "queue.db" else STORE:
            db.execute(sql)
        db.close()
    (box.data / "active").write_text("default\n")
    return box


def contents(folder):
    """Return the bytes of every database of a folder."""
    return {path: path.read_bytes() for path in folder.rglob("*.db")}


def test_every_verb_names_it_and_changes_nothing(older):
    """One line on standard error says what to do; no byte of a database is changed, and it is never called damaged."""
    before = contents(older.data)
    for verb in VERBS if older.queue_path.exists() else VERBS[:2]:
        done = older.memman(*verb)
        assert done.returncode == OtherProgram.exit_code, (verb, done)
        (line,) = done.stderr.splitlines()
        assert "is the database of another program" in line
        assert "MEMMAN_DATA_DIR" in line
    if older.queue_path.exists():
        assert older.memman("remember", "We use Postgres 16.").returncode == OtherProgram.exit_code
    doctor = older.memman("doctor").stdout
    assert "is the database of another program" in doctor
    assert "damaged" not in doctor
    assert contents(older.data) == before
