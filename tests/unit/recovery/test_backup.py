"""Backups: what is in them, which are believed, what is kept, and when one is due."""

import json
import stat
from contextlib import closing
from hashlib import sha256

import pytest

from memman.model.errors import DamagedFile
from memman.recovery.backup import Attempt, Manifest, due, fill, listed, take
from memman.sqlite import Transaction, checkpoint, open_reader, open_writer, upgrade
from memman.upkeep.idle import idle
from tests.support.backup_calls import restored, run
from tests.support.box import rows

HOUR, DAY = 3_600_000, 86_400_000
NOW = 1_800_000_000_000


def test_a_backup_holds_everything_but_secrets_and_is_private(box):
    """Queue, stores and what says which store is meant are in it, and nothing of the env file."""
    box.configure(LLM_API_KEY="sk-the-secret", LLM_PROVIDER="builtin")
    box.remember("Redis caches the invoices.")
    box.remember("The gateway listens on port 8443.", store="work")
    box.drain()
    run(box, "store", "use", "work")
    made = take(str(box.data), label="first")
    folder = box.data / "backups" / made.id
    assert sorted(made.stores) == ["default", "work"]
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
    upgrade(db, path, {1: "CREATE TABLE page(id, content)"})
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
    made = json.loads(run(box, "backup", "create", "--store", "one", "--json"))
    assert [part["file"] for part in made["parts"]] == ["queue.db", "stores/one.db"]
    assert "no store named 'three'" in run(box, "backup", "create", "--store", "three", code=11)


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
    change(box.data / "backups" / take(str(box.data)).id, lambda said: said["parts"][1].update(schema=99))
    assert "schema 99" in restored(box, code=14)


def change(folder, how):
    """Change what a manifest says as somebody would who knows its digest."""
    said = json.loads((folder / "manifest.json").read_text())
    del said["digest"]
    how(said)
    said["digest"] = sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(said))


PART = {
    "store": ("../../evil", "a/b", 7, None, "x" * 65, ".."),
    "file": ("../queue.db", "/etc/passwd", "stores/other.db", None),
    "schema": ("2", 1.5, True),
    "bytes": ("1", None),
    "sha256": (0,),
    "rows": ([],),
}
WHOLE = {
    "id": ("../x", 7, None, "20200101T000000Z"),
    "number": ("1", 1e40, True),
    "at": ("now", None),
    "label": (7, None),
    "automatic": (1, "yes"),
    "active": (1, None),
    "bindings": (1, ["x"]),
    "parts": ({}, None, [7], [[]]),
}


def test_a_manifest_with_an_odd_field_is_not_believed(box):
    """Of a wrong type or a path elsewhere: told as damaged by every verb; nothing is made anywhere."""
    box.remember("Redis caches the invoices.")
    box.drain()
    folder = box.data / "backups" / take(str(box.data)).id
    sound = (folder / "manifest.json").read_bytes()
    before = {path for path in box.data.parent.rglob("*") if "backups" not in path.parts}
    cases = [(0, name, value) for name, values in WHOLE.items() for value in values]
    cases += [(1, name, value) for name, values in PART.items() for value in values]
    for depth, name, value in cases:
        (folder / "manifest.json").write_bytes(sound)
        change(folder, lambda said: (said["parts"][1] if depth else said).update({name: value}))  # noqa: B023
        with pytest.raises(DamagedFile):
            Manifest.load(str(folder))
        assert listed(str(box.data)) == {folder.name: None}
    restored(box, code=12)
    assert "cannot be read" in run(box, "backup", "list")
    run(box, "doctor", "--check", "backups")
    run(box, "backup", "create", "next")
    assert {path for path in box.data.parent.rglob("*") if "backups" not in path.parts} - before <= {
        box.data / "exchange.lock"
    }


def test_verify_notices_a_changed_byte_of_a_manifest(box):
    """Whichever digit or letter of it another program or the disk has changed."""
    box.remember("Redis caches the invoices.")
    box.drain()
    folder = box.data / "backups" / take(str(box.data)).id
    sound = (folder / "manifest.json").read_bytes()
    for place in range(len(sound)):
        if not sound[place : place + 1].isalnum():
            continue
        (folder / "manifest.json").write_bytes(sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        assert listed(str(box.data)) == {folder.name: None}
    run(box, "backup", "verify", folder.name, code=12)


@pytest.mark.slow
@pytest.mark.parametrize("value", ["x", '{"at": "', "[1, null]", '{"at": "x", "error": 7}', "7", "null", "\ufffd"])
def test_what_a_damaged_queue_remembers_stops_no_drain(box, value):
    """Whatever stands in a setting of the queue, drains store their notes."""
    box.configure(BACKUP_EVERY="daily")
    box.remember("Redis caches the invoices.")
    box.drain()
    for key in ("backup", "scrubbing", "last_drain", "failures", "breaker", "garbles", "upgrading"):
        box.queue("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)
        box.remember(f"Vite builds the frontend of {key}.")
        assert box.drain().done == 1
        assert idle(str(box.data)) in {True, False}
        assert box.drain().errors == []


def test_doctor_offers_no_schedule_where_there_is_one(box):
    """Before the first backup it says how to have them made, and with a schedule that a drain does."""
    box.data.mkdir(mode=0o700, exist_ok=True)
    assert "`memman backup schedule daily`" in box.memman("doctor", "--check", "backups").stdout
    assert box.memman("backup", "schedule", "daily").returncode == 0
    assert "none yet; a drain creates the first" in box.memman("doctor", "--check", "backups").stdout


def test_the_schedule_keeps_the_last_and_a_persons_own_stay(box):
    """Drains take one when it is due and throw the oldest of theirs away; what a person took stays."""
    box.remember("Redis caches the invoices.")
    take(str(box.data))
    run(box, "backup", "schedule", "12h", "--keep", "2")
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
    assert "off, daily, weekly" in run(box, "backup", "schedule", "--", said, code=78)
    assert run(box, "backup", "schedule") == "no automatic backups\n"


def test_ids_may_be_cut_short_and_backups_removed(box):
    """A beginning that fits one backup names it; one that fits two, or none, is refused."""
    box.remember("Redis caches the invoices.")
    first, second = take(str(box.data), label="a"), take(str(box.data), label="b")
    assert "ambiguous" in run(box, "backup", "verify", first.id[:4], code=3)
    assert "no backup" in run(box, "backup", "verify", "1999", code=3)
    run(box, "backup", "remove", second.id)
    assert list(listed(str(box.data))) == [first.id]
    assert "label" in run(box, "backup", "create", "../x", code=2)


def test_nothing_is_no_backup(box):
    """Before the first note there is nothing to back up."""
    assert "nothing to back up yet" in run(box, "backup", "create", code=2)
    assert run(box, "backup", "list") == "no backups\n"
    assert "there is no backup yet" in run(box, "backup", "restore", "latest", code=3)


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
    assert run(box, "backup", "create", code=12)
    assert run(box, "backup", "list") == "no backups\n"
    assert not list((box.data / "backups").iterdir())
    run(box, "backup", "create", "--store", "other")
