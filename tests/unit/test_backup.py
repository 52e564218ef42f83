"""Backups: what is in them, what restoring brings back and what stays away, what is kept, and when one is due."""

import json
import os
import shutil
import stat
from contextlib import closing

import pytest

from conftest import Box, rows
from memman.backup.copy import counted, digest, fill
from memman.backup.manifest import listed
from memman.backup.schedule import Attempt, due
from memman.backup.swap import in_turn, swap
from memman.backup.take import take
from memman.sqlite import Transaction, checkpoint, open_reader, open_writer, upgrade
from memman.store.sqlite.schema import STEPS

HOUR, DAY = 3_600_000, 86_400_000
NOW = 1_800_000_000_000
PERSON = ("--yes", "--consent")


def run(box, *args, code=0):
    """Run `memman`; return what it printed."""
    done = box.memman(*args)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def restored(box, *args, code=0):
    """Restore the last backup; return what became of each store."""
    said = run(box, "backup", "restore", "latest", *PERSON, "--json", *args, code=code)
    return json.loads(said) if code == 0 else said


def test_a_backup_holds_everything_but_secrets_and_is_private(box):
    """Queue, stores and what says which store is meant are in it; of the env file only the names of its keys."""
    box.configure(LLM_API_KEY="sk-the-secret", LLM_PROVIDER="builtin")
    box.remember("Redis caches the invoices.")
    box.remember("The gateway listens on port 8443.", store="work")
    box.drain()
    run(box, "store", "use", "work")
    made = take(str(box.data), label="first")
    folder = box.data / "backups" / made.id
    assert sorted(made.stores) == ["default", "work"]
    assert made.keys == ("MEMMAN_LLM_API_KEY", "MEMMAN_LLM_PROVIDER")
    assert made.active == "work\n"
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert sorted(path.name for path in files) == ["default.db", "manifest.json", "queue.db", "work.db"]
    assert not any(b"sk-the-secret" in path.read_bytes() for path in files)
    for path in (folder, *folder.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)
    assert rows(folder / "stores/work.db", "SELECT text FROM memory") == ["The gateway listens on port 8443."]


def test_pages_that_stand_in_a_long_log_are_copied_with_their_checksums(tmp_path):
    """A store larger than SQLite's cache, half of it still in the log, gives a copy whose every page is sound."""
    path = str(tmp_path / "store/memman.db")
    db = open_writer(path)
    upgrade(db, path, ("CREATE TABLE page(id, content)",))
    for _ in range(2):
        with Transaction(db):
            for number in range(1500):
                db.execute("INSERT INTO page VALUES (?, randomblob(1500))", (number,))
        checkpoint(db)
        db.execute("UPDATE page SET content = randomblob(1400) WHERE id % 7 = 0")
    with closing(open_reader(path)) as source:
        fill(str(tmp_path / "copy.db"), source)
    with closing(open_reader(str(tmp_path / "copy.db"))) as copy:
        assert copy.execute("PRAGMA integrity_check").get == "ok"
        assert copy.execute("SELECT count(*) FROM page").get == 3000


def test_one_store_may_be_backed_up_alone(box):
    """With --store only that store is in it, beside the queue; one that is not there is refused."""
    for name in ("one", "two"):
        box.remember("Redis caches the invoices.", store=name)
    box.drain()
    made = json.loads(run(box, "backup", "create", "--store", "one", "--json", "--consent"))
    assert [part["file"] for part in made["parts"]] == ["queue.db", "stores/one.db"]
    assert "no store named 'three'" in run(box, "backup", "create", "--store", "three", "--consent", code=11)


def test_notes_that_waited_wait_again_and_those_that_wait_now_stay(box):
    """After a restore a drain stores what waited at the backup and what waits now, each once."""
    first = box.remember("Redis caches the invoices.")
    box.drain()
    waited = box.remember("The gateway listens on port 8443.")
    take(str(box.data))
    box.drain()
    since = box.remember("The frontend is built by Vite.")
    box.drain()
    still = box.remember("The staging database is Postgres 16.")
    (told,) = restored(box)
    assert (told["memories"], told["waiting"], told["missing"]) == (1, 1, 1)
    assert rows(f"{told['aside']}/memman.db", "SELECT note FROM memory ORDER BY id") == [first, waited, since]
    box.drain()
    assert sorted(box.store("SELECT note FROM memory")) == sorted([first, waited, still])
    assert box.states() == {"done": 4}


def test_a_backup_restores_on_a_fresh_machine(box, tmp_path, monkeypatch):
    """Carried to another data folder it brings back stores, waiting notes, parked ones as such, and bindings."""
    box.remember("Redis caches the invoices.", store="work")
    box.drain()
    run(box, "store", "use", "work")
    parked = box.remember("The build needs Node 22.", store="work")
    box.queue("UPDATE note SET state = 'parked', error = 'Odd: x' WHERE uid = ?", parked)
    waiting = box.remember("The gateway listens on port 8443.", store="new")
    made = take(str(box.data))
    fresh = Box(tmp_path / "fresh", box.environ | {"MEMMAN_DATA_DIR": str(tmp_path / "fresh")})
    shutil.copytree(box.data / "backups" / made.id, fresh.data / "backups" / made.id)
    restored(fresh)
    assert fresh.queue("SELECT uid, state, error FROM note ORDER BY id") == [
        (parked, "parked", "Odd: x"),
        (waiting, "pending", ""),
    ]
    assert (fresh.data / "active").read_text() == "work\n"
    monkeypatch.setenv("MEMMAN_DATA_DIR", str(fresh.data))
    fresh.drain()
    assert fresh.store("SELECT text FROM memory", name="work") == ["Redis caches the invoices."]
    assert fresh.store("SELECT note FROM memory", name="new") == [waiting]


def test_what_was_forgotten_or_purged_since_stays_away(box):
    """A restore retires what was forgotten since, and leaves out what was purged, be it stored or waiting then."""
    kept, forgotten, purged = (box.remember(text) for text in ("Redis caches.", "Vite builds.", "Nginx serves."))
    box.drain()
    late = box.remember("Postgres stores the accounts.")
    take(str(box.data))
    run(box, "forget", forgotten)
    run(box, "forget", "--purge", purged, late, *PERSON)
    (told,) = restored(box)
    assert (told["memories"], told["waiting"], told["forgotten"], told["purged"]) == (1, 0, 1, 1)
    box.drain()
    assert box.store("SELECT note, status FROM memory ORDER BY id") == [(kept, "current"), (forgotten, "forgotten")]
    assert box.recall("Vite builds") == box.recall("Nginx serves") == []
    assert rows(f"{told['aside']}/memman.db", "SELECT note FROM memory WHERE note = ?", (purged,)) == []


def test_a_store_comes_back_beside_the_one_that_is_there(box):
    """With --to the present store and queue stay as they are; a name that is taken is refused."""
    box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data))
    box.remember("The frontend is built by Vite.")
    box.drain()
    (told,) = restored(box, "--to", "old")
    assert (told["aside"], told["waiting"]) == ("", 0)
    assert box.store("SELECT text FROM memory", name="old") == ["Redis caches the invoices."]
    assert len(box.store("SELECT text FROM memory")) == 2
    assert "already" in restored(box, "--to", "old", code=2)


def test_a_damaged_store_and_queue_are_moved_aside(box):
    """Where nothing can be read any more the backup comes back, and what was there is kept as it was."""
    uid = box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data))
    for path in (box.store_path(), box.queue_path):
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        path.write_bytes(b"no database" * 1000)
    (told,) = restored(box)
    assert told["missing"] is None
    assert box.store("SELECT note FROM memory") == [uid]
    assert box.states() == {}
    assert {path.read_bytes()[:11] for path in box.data.glob("removed/*/*.db")} == {b"no database"}


@pytest.mark.parametrize("spoil", ["flip", "cut", "gone", "manifest"])
def test_a_damaged_backup_is_told_and_never_restored(box, spoil):
    """A byte that differs, bytes or a file that are missing, a manifest torn: verify and restore end with code 12."""
    box.remember("Redis caches the invoices.")
    box.drain()
    folder = box.data / "backups" / take(str(box.data)).id
    path = folder / ("manifest.json" if spoil == "manifest" else "stores/default.db")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    if spoil == "flip":
        path.write_bytes(content)
    elif spoil == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:100])
    before = box.store_path().stat().st_ino
    assert folder.name in run(box, "backup", "verify", "latest", code=12)
    restored(box, code=12)
    assert box.store_path().stat().st_ino == before
    assert not (box.data / "removed").exists()


def test_a_backup_of_a_newer_memman_is_left_alone(box):
    """What has a schema that this memman does not know is not restored: exit code 14."""
    box.remember("Redis caches the invoices.")
    box.drain()
    path = box.data / "backups" / take(str(box.data)).id / "manifest.json"
    said = json.loads(path.read_text())
    said["parts"][1]["schema"] = 99
    path.write_text(json.dumps(said))
    assert "schema 99" in restored(box, code=14)


def test_the_schedule_keeps_the_last_and_a_persons_own_stay(box):
    """Drains take one when it is due and throw the oldest of theirs away; what a person took stays."""
    box.remember("Redis caches the invoices.")
    take(str(box.data))
    run(box, "backup", "schedule", "12h", "--keep", "2", "--consent")
    for number in (2, 3, 4, 5):
        box.drain()
        box.drain()
        assert next(iter(listed(str(box.data)).values())).number == number
        box.queue("UPDATE meta SET value = '{\"at\": 0}' WHERE key = 'backup'")
    assert [made.number for made in listed(str(box.data)).values()] == [5, 4, 1]


def test_a_backup_that_fails_is_told_by_doctor_and_fails_no_drain(box):
    """Where the backups' folder cannot be made the drain works on, logs it, and doctor warns."""
    box.configure(BACKUP_EVERY="daily")
    box.remember("Redis caches the invoices.")
    (box.data / "backups").write_text("no folder")
    assert box.drain().done == 1
    lines = [json.loads(line) for line in (box.data / "logs/worker.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines if "backup" in line["event"]] == ["backup failed"]
    assert "the last backup failed" in box.memman("doctor", "--check", "backups").stdout


@pytest.mark.parametrize(
    ("last", "wanted"),
    [
        (Attempt(), True),
        (Attempt(NOW - DAY + 1), False),
        (Attempt(NOW - DAY), True),
        (Attempt(NOW + 365 * DAY), True),
        (Attempt(NOW - HOUR + 1, "the disk is full"), False),
        (Attempt(NOW - HOUR, "the disk is full"), True),
    ],
)
def test_when_a_backup_is_due(last, wanted):
    """It is after an interval, after an hour where one failed, and once after a clock went back."""
    assert due(last, DAY, NOW) is wanted
    assert not due(last, 0, NOW)


@pytest.mark.parametrize("said", ["hourly", "0h", "h", "-1h", "9999h", "²h"])
def test_an_odd_schedule_is_refused(box, said):
    """What is no schedule is named, and nothing changes."""
    assert "off, daily, weekly" in run(box, "backup", "schedule", "--consent", "--", said, code=78)
    assert run(box, "backup", "schedule", "--consent").split() == ["every", "off", "keep", "7"]


def test_ids_may_be_cut_short_and_backups_removed(box):
    """A beginning that fits one backup names it; one that fits two, or none, is refused."""
    box.remember("Redis caches the invoices.")
    first, second = take(str(box.data), label="a"), take(str(box.data), label="b")
    assert "ambiguous" in run(box, "backup", "verify", first.id[:4], code=3)
    assert "no backup" in run(box, "backup", "verify", "1999", code=3)
    assert "--yes" in run(box, "backup", "remove", second.id, "--consent", code=2)
    run(box, "backup", "remove", second.id, *PERSON)
    assert list(listed(str(box.data))) == [first.id]
    assert "label" in run(box, "backup", "create", "../x", "--consent", code=2)


def test_nothing_is_no_backup(box):
    """Before the first note there is nothing to back up."""
    assert "nothing to back up yet" in run(box, "backup", "create", "--consent", code=2)
    assert run(box, "backup", "list") == ""


@pytest.mark.parametrize("exchange", [swap, in_turn])
def test_folders_change_places(tmp_path, exchange):
    """Each has the other's content afterwards, and nothing else is left."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    exchange(str(tmp_path / "one"), str(tmp_path / "other"))
    assert [(tmp_path / name / "file").read_text() for name in ("one", "other")] == ["other", "one"]
    assert sorted(os.listdir(tmp_path)) == ["one", "other"]


def test_a_damaged_store_is_not_backed_up_unnoticed(box):
    """A store whose copy is not sound costs the backup, and says so; nothing is listed, and others go by --store."""
    for name in ("default", "other"):
        box.remember("Redis caches the invoices. " * 40, store=name)
    box.drain()
    path = box.store_path()
    content = bytearray(path.read_bytes())
    root = box.store("SELECT rootpage FROM sqlite_master WHERE name = 'memory'")[0]
    content[(root - 1) * 4096 : root * 4096 - 8] = b"\xff" * 4088
    path.write_bytes(content)
    assert run(box, "backup", "create", "--consent", code=12)
    assert run(box, "backup", "list") == ""
    assert not list((box.data / "backups").iterdir())
    run(box, "backup", "create", "--store", "other", "--consent")


def test_a_backup_of_an_older_schema_is_upgraded_when_it_is_restored(box):
    """A store kept by an older memman comes back with today's tables, and no copy of the upgrade is left beside it."""
    box.remember("Redis caches the invoices.")
    box.drain()
    made = take(str(box.data))
    folder = box.data / "backups" / made.id
    path = folder / "stores/default.db"
    path.unlink()
    old = open_writer(str(path))
    upgrade(old, str(path), STEPS[:1])
    old.execute("PRAGMA journal_mode = DELETE")
    old.close()
    said = json.loads((folder / "manifest.json").read_text())
    (part,) = (part for part in said["parts"] if part["store"])
    reader = open_reader(str(path))
    part |= {"schema": 1, "bytes": path.stat().st_size, "sha256": digest(str(path)), "rows": counted(reader)}
    reader.close()
    (folder / "manifest.json").write_text(json.dumps(said))
    restored(box)
    assert box.store("PRAGMA user_version") == [len(STEPS)]
    assert [path.name for path in box.store_path().parent.iterdir() if path.suffix == ".bak"] == []
