"""Restoring: what comes back, what stays away, and what becomes of what is there."""

import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from memman.commands.forget import forgotten as forget
from memman.commands.forget import restore as undo
from memman.commands.place import Place
from memman.recovery.backup import take
from memman.recovery.manifest import listed
from memman.recovery.purge import purge
from tests.support.backup_calls import restored, run
from tests.support.box import Box, rows


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
    run(box, "purge", purged, late)
    (told,) = restored(box)
    assert (told["memories"], told["waiting"], told["forgotten"], told["purged"]) == (1, 0, 1, 1)
    box.drain()
    assert box.store("SELECT note, status FROM memory ORDER BY id") == [(kept, "current"), (forgotten, "forgotten")]
    assert box.recall("Vite builds") == box.recall("Nginx serves") == []
    assert rows(f"{told['aside']}/memman.db", "SELECT note FROM memory WHERE note = ?", (purged,)) == []


def test_a_backup_counts_the_memories_that_its_restore_brings_back(box):
    """What was superseded or forgotten before the backup is in it and not counted: restore counts what holds."""
    box.remember("Redis caches.")
    gone = box.remember("Vite builds.")
    box.drain()
    run(box, "forget", gone)
    assert "1 store, 1 memory, " in run(box, "backup", "create")
    assert "1 store, 1 memory, " in run(box, "backup", "list")
    assert "1 store, 1 memory, " in run(box, "backup", "verify", "latest")
    assert "restored store 'default': 1 memory" in run(box, "backup", "restore", "latest")
    assert len(box.store("SELECT id FROM memory")) == 2


# What became of a note since the backup, and what it says.
SINCE = {
    "nothing": "Redis caches the invoices.",
    "forgotten": "Nginx serves the landing pages.",
    "forgotten before a drain": "Postgres stores the accounts.",
    "purged": "Kafka carries the orders.",
    "replaced": "The staging gateway listens on port 8443.",
    "replaced and forgotten": "The nightly report is written in Fortran.",
    "undone": "Grafana draws the dashboards.",
}
HEIRS = {
    "replaced": "The staging gateway listens on port 9443.",
    "replaced and forgotten": "The nightly report is written in Julia.",
}
# What must not be found afterwards, whatever is restored how.
AWAY = ("forgotten", "forgotten before a drain", "purged", "replaced and forgotten")


def happen(box, notes):
    """Have a person change their mind about notes; all that waits is drained."""
    place = Place(str(box.data), "default", "default")
    if early := notes.get("forgotten before a drain"):
        forget(place, [early])
    box.drain()
    forget(place, [notes["forgotten"], notes["undone"]])
    undo(place, [notes["undone"]])
    purge(str(box.data), "default", [notes["purged"]])
    heirs = {since: run(box, "replace", notes[since], text).strip() for since, text in HEIRS.items()}
    box.drain()
    forget(place, [heirs["replaced and forgotten"]])


@pytest.mark.parametrize(
    ("then", "how"),
    [
        ("stored", "whole"),
        ("stored", "to"),
        ("waiting", "whole"),
        ("waiting", "store"),
        ("waiting", "to"),
        ("parked", "whole"),
    ],
)
def test_what_a_person_did_away_with_since_stays_away(box, then, how):
    """Whether it waited or lived at the backup, and however that is restored, what was forgotten is found no more."""
    other = box.remember("Vite builds the frontend.")
    box.drain()
    cases = [since for since in SINCE if (then, since) != ("stored", "forgotten before a drain")]
    notes = {since: box.remember(SINCE[since]) for since in cases}
    if then == "stored":
        box.drain()
    if then == "parked":
        box.queue("UPDATE note SET state = 'parked', error = 'odd' WHERE state = 'pending'")
    take(str(box.data))
    early = notes.get("forgotten before a drain", "")
    box.queue("UPDATE note SET state = 'pending' WHERE state = 'parked' AND uid <> ?", early)
    happen(box, notes)
    before = box.store("SELECT note, text FROM memory WHERE status = 'current'")
    args = {"whole": (), "store": ("--store", "default"), "to": ("--store", "default", "--to", "old")}[how]
    restored(box, *args)
    box.queue("UPDATE note SET state = 'pending' WHERE state = 'parked'")
    box.drain()
    name = "old" if how == "to" else "default"
    texts = box.store("SELECT text FROM memory WHERE status = 'current'", name=name)
    nowhere = how == "to" and then != "stored"
    away = {since for since in cases if since in AWAY}
    back = [SINCE[since] for since in cases if since not in away and not nowhere]
    assert sorted(texts) == sorted(["Vite builds the frontend.", *back])
    assert [SINCE[since] for since in cases if SINCE[since] in box.recall(SINCE[since], store=name)] == back
    if how == "to":
        assert box.store("SELECT note, text FROM memory WHERE status = 'current'") == before
    assert set(box.states()) <= {"done"}
    assert other in box.store("SELECT note FROM memory", name=name)
    for since in [since for since in cases if since.startswith("forgotten") and not nowhere]:
        undo(Place(str(box.data), name, "--store"), [notes[since]])
        assert SINCE[since] in box.recall(SINCE[since], store=name)


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
        run(box, "backup", "restore", name)
        assert box.store("SELECT status FROM memory WHERE note = ?", note) == ["forgotten"]
    run(box, "store", "remove", "default")
    run(box, "backup", "restore", having)
    assert box.store("SELECT status FROM memory ORDER BY id") == ["current", "forgotten"]
    assert box.recall("what caches the invoices") == []


def test_a_purge_is_no_note_that_came_after_the_backup(box):
    """What restore says is missing counts neither what was purged since nor what was forgotten."""
    box.remember("Vite builds the frontend.")
    box.drain()
    waited = box.remember("Redis caches the invoices.")
    take(str(box.data))
    run(box, "purge", waited)
    late, gone = box.remember("Nginx serves the pages."), box.remember("Postgres stores the accounts.")
    box.drain()
    run(box, "purge", late)
    run(box, "forget", gone)
    (told,) = restored(box)
    assert told["missing"] == 0


@pytest.mark.slow
def test_a_forget_that_comes_during_a_restore_is_not_undone(box):
    """Acknowledged before, amid or after it, what is forgotten is so in the store that is in force then."""
    notes = [box.remember(f"Service number {n} listens on port {n}.") for n in range(12)]
    box.drain()
    take(str(box.data))
    with ThreadPoolExecutor(1) as pool:
        restores = pool.submit(lambda: [box.person("backup", "restore", "latest") for _ in range(3)])
        for note in notes:
            run(box, "forget", note)
    assert [(done.returncode, done.stderr) for done in restores.result()] == [(0, "")] * 3
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
    """A reteam leaves it and its log where they are, changes nothing, and names the command."""
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
