"""Backups: what is in them, what restoring brings back and what stays away, what is kept, and when one is due."""

import json
import shutil
import stat
from contextlib import closing
from hashlib import sha256

import pytest

from conftest import Box, rows
from memman.backup.copy import counted, digest, fill
from memman.backup.manifest import Manifest, listed
from memman.backup.schedule import Attempt, due
from memman.backup.take import take
from memman.drain.idle import idle
from memman.model.errors import DamagedFile
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


SINCE = ("nothing", "forgotten", "forgotten before a drain", "purged", "replaced", "replaced and forgotten", "undone")
# What must not be found afterwards, whatever is restored how.
AWAY = ("forgotten", "forgotten before a drain", "purged", "replaced and forgotten")


def happen(box, since, note):
    """Have a person change their mind about a note; all that waits is drained."""
    if since == "forgotten before a drain":
        run(box, "forget", note)
    box.drain()
    if since in {"forgotten", "undone"}:
        run(box, "forget", note)
    if since == "undone":
        run(box, "forget", "--undo", note)
    if since == "purged":
        run(box, "forget", "--purge", note, *PERSON)
    if since.startswith("replaced"):
        heir = run(box, "replace", note, "Memcached caches the invoices.").strip()
        box.drain()
    if since == "replaced and forgotten":
        run(box, "forget", heir)


@pytest.mark.parametrize(
    ("then", "how", "since"),
    [
        (then, how, since)
        for then, how in (
            ("stored", "whole"),
            ("stored", "to"),
            ("waiting", "whole"),
            ("waiting", "store"),
            ("waiting", "to"),
            ("parked", "whole"),
        )
        for since in SINCE
        if (then, since) != ("stored", "forgotten before a drain")
    ],
)
def test_what_a_person_did_away_with_since_stays_away(box, then, how, since):
    """Whether it waited or lived at the backup, and however that is restored, what was forgotten is found no more."""
    other = box.remember("Vite builds the frontend.")
    box.drain()
    note = box.remember("Redis caches the invoices.")
    if then == "stored":
        box.drain()
    if then == "parked":
        box.queue("UPDATE note SET state = 'parked', error = 'odd' WHERE uid = ?", note)
    take(str(box.data))
    if then == "parked" and since != "forgotten before a drain":
        run(box, "scheduler", "queue", "retry", note)
    happen(box, since, note)
    before = box.store("SELECT note, text FROM memory WHERE status = 'current'")
    args = {"whole": (), "store": ("--store", "default"), "to": ("--store", "default", "--to", "old")}[how]
    restored(box, *args)
    if box.queue("SELECT 1 FROM note WHERE uid = ? AND state = 'parked'", note):
        run(box, "scheduler", "queue", "retry", note)
    box.drain()
    name = "old" if how == "to" else "default"
    texts = box.store("SELECT text FROM memory WHERE status = 'current' ORDER BY id", name=name)
    found = box.recall("what caches the invoices", store=name)
    # Beside it stays the store that dealt with it, and knows what took whose place.
    away = (since in AWAY and (how, then, since) != ("to", "stored", AWAY[-1])) or (how == "to" and then != "stored")
    assert texts == ["Vite builds the frontend."] + [] * away + ["Redis caches the invoices."] * (not away)
    assert ("Redis caches the invoices." in found) is not away
    if how == "to":
        assert box.store("SELECT note, text FROM memory WHERE status = 'current'") == before
    assert set(box.states()) <= {"done"}
    assert other in box.store("SELECT note FROM memory", name=name)
    if since.startswith("forgotten") and not (how == "to" and then != "stored"):
        run(box, "forget", "--undo", note, "--store", name)
        assert "Redis caches the invoices." in box.recall("what caches the invoices", store=name)


def test_what_was_forgotten_outlives_restores_of_older_backups_and_a_removed_store(box):
    """A backup from before the note, then one with it; a store removed, and brought back: it stays forgotten."""
    box.remember("Vite builds the frontend.")
    box.drain()
    take(str(box.data), label="before")
    note = box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data), label="with")
    run(box, "forget", note)
    before, having = (next(name for name in listed(str(box.data)) if name.endswith(end)) for end in ("before", "with"))
    for name in (before, having, having):
        run(box, "backup", "restore", name, *PERSON)
        assert box.store("SELECT status FROM memory WHERE note = ?", note) == ["forgotten"]
    run(box, "store", "remove", "default", *PERSON)
    run(box, "backup", "restore", having, *PERSON)
    assert box.store("SELECT status FROM memory ORDER BY id") == ["current", "forgotten"]
    assert box.recall("what caches the invoices") == []


def test_a_purge_is_no_note_that_came_after_the_backup(box):
    """What restore says is missing counts neither what was purged since nor what was forgotten."""
    box.remember("Vite builds the frontend.")
    box.drain()
    waited = box.remember("Redis caches the invoices.")
    take(str(box.data))
    run(box, "forget", "--purge", waited, *PERSON)
    late, gone = box.remember("Nginx serves the pages."), box.remember("Postgres stores the accounts.")
    box.drain()
    run(box, "forget", "--purge", late, *PERSON)
    run(box, "forget", gone)
    (told,) = restored(box)
    assert told["missing"] == 0


def test_a_forget_that_comes_during_a_restore_is_not_undone(box):
    """Acknowledged before, amid or after it, what is forgotten is so in the store that is in force then."""
    notes = [box.remember(f"Service number {n} listens on port {n}.") for n in range(12)]
    box.drain()
    take(str(box.data))
    restores = box.start("sh", "-c", f"for n in 1 2 3; do {box.script} backup restore latest --yes --consent; done")
    for note in notes:
        run(box, "forget", note)
    _, err = restores.communicate(timeout=60)
    assert (restores.returncode, err) == (0, "")
    assert box.store("SELECT count(*) FROM memory WHERE status = 'current'") == [0]


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


def test_a_damaged_store_is_moved_aside(box):
    """Where nothing can be read any more the backup comes back, and what was there is kept as it was."""
    uid = box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data))
    ruin(box.store_path())
    (told,) = restored(box)
    assert told["missing"] is None
    assert box.store("SELECT note FROM memory") == [uid]
    assert {path.read_bytes()[:11] for path in box.data.glob("removed/*/*.db")} == {b"no database"}


def test_a_damaged_queue_is_to_be_repaired_first(box):
    """A restore leaves it and its log where they are, changes nothing, and names the command."""
    box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data))
    ruin(box.queue_path)
    before = box.store_path().stat().st_ino
    assert "memman repair --queue" in restored(box, code=12)
    assert box.store_path().stat().st_ino == before
    assert box.queue_path.read_bytes()[:11] == b"no database"


def ruin(path):
    """Put what is no database in the place of one."""
    for end in ("-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    path.write_bytes(b"no database" * 1000)


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
    "schema": ("2", -1, 1.5, True, 2**40),
    "bytes": ("1", -1, None),
    "sha256": ("", "z" * 64, 0),
    "rows": ([], {"memory": "1"}, {"memory": -1}),
}
WHOLE = {
    "id": ("../x", 7, None, "20200101T000000Z"),
    "number": ("1", 1e40, -1, 2**40, True),
    "at": (1e40, "now", -1, 10**20, None),
    "label": (7, None),
    "automatic": (1, "yes"),
    "taken_by": (None, []),
    "memman": (1,),
    "keys": ("x", [1], None),
    "active": (1, None),
    "bindings": (1, ["x"]),
    "parts": ({}, None, [7], [[]]),
}


def test_no_field_of_a_manifest_is_believed(box):
    """Of a wrong type, out of range or a path elsewhere: told as damaged by every verb; nothing is made anywhere."""
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
    run(box, "backup", "create", "next", "--consent")
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


@pytest.mark.parametrize("value", ["x", '{"at": "', "[1, null]", '{"at": "x", "error": 7}', "7", "null", "\ufffd"])
def test_what_a_damaged_queue_remembers_stops_no_drain(box, value):
    """Whatever stands in a setting of the queue, drains store their notes."""
    box.configure(BACKUP_EVERY="daily")
    box.remember("Redis caches the invoices.")
    box.drain()
    for key in ("backup", "scrubbing", "last_drain", "failures", "breaker", "upgrading"):
        box.queue("INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)
        box.remember(f"Vite builds the frontend of {key}.")
        assert box.drain().done == 1
        assert idle(str(box.data)) in {True, False}
        assert box.drain().errors == []


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
    with closing(open_reader(str(path))) as reader:
        now = {"schema": 1, "bytes": path.stat().st_size, "sha256": digest(str(path)), "rows": counted(reader)}
    change(folder, lambda said: next(part for part in said["parts"] if part["store"]).update(now))
    restored(box)
    assert box.store("PRAGMA user_version") == [len(STEPS)]
    assert [path.name for path in box.store_path().parent.iterdir() if path.suffix == ".bak"] == []
