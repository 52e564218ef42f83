"""The data folder of memman 0.15, another program of this name: it is recognised, named once, and left as it is."""

import apsw
import pytest

from memman.model.errors import OlderProgram

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
    ("remember", "We use Postgres 16."),
    ("status",),
    ("insights", "list"),
    ("scheduler", "drain"),
    ("config", "set", "HTTP_TRIES", "2"),
    ("install", "--no-wizard"),
    ("backup", "create"),
    ("store", "list"),
    ("scheduler", "status"),
    ("providers", "list"),
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
    """Return every file of a folder with its bytes and mode, and every folder."""
    return {
        str(path.relative_to(folder)): (path.stat().st_mode, path.read_bytes() if path.is_file() else b"")
        for path in (folder, *folder.rglob("*"))
        if not path.name.endswith(("-shm", "-wal"))
    }


def test_every_verb_names_it_and_changes_nothing(older):
    """One line on standard error says whose it is; no file is made, changed or made private."""
    before = contents(older.data)
    for verb in VERBS:
        done = older.memman(*verb)
        assert done.returncode == OlderProgram.exit_code, (verb, done)
        (line,) = done.stderr.splitlines()
        assert "memman 0.15" in line
        assert "MEMMAN_DATA_DIR" in line
        assert "damaged" not in line
    assert contents(older.data) == before


def test_doctor_says_that_and_nothing_else(older):
    """One failure, with the command that moves the folder out of the way."""
    before = contents(older.data)
    done = older.memman("doctor")
    first, mend, last = done.stdout.splitlines()
    assert first.startswith("FAIL  folder")
    assert "memman 0.15" in first
    assert mend.split() == ["mend:", "mv", str(older.data), f"{older.data}-0.15"]
    assert last.startswith("1 failure")
    assert contents(older.data) == before


def test_it_is_not_repaired(older):
    """Not even a person who agrees has its tables taken for damage."""
    before = contents(older.data)
    done = older.person("repair", "--store", "default")
    assert (done.returncode, "memman 0.15" in done.stderr) == (OlderProgram.exit_code, True)
    assert contents(older.data) == before


def test_moved_away_it_is_in_nobodys_way(older):
    """After doctor's command this memman works, and the other's folder is as it was."""
    before = contents(older.data)
    kept = older.data.rename(f"{older.data}-0.15")
    assert older.memman("remember", "We use Postgres 16.").returncode == 0
    assert contents(kept) == before
