"""Restoring: what a store lacks comes back, and what is there stays."""

import lzma
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from memman.commands.forget import forgotten as forget
from memman.commands.forget import restore as undo
from memman.commands.place import Place
from memman.recovery.backup import take
from memman.recovery.purge import purge
from memman.store.sqlite import index, record_log
from memman.store.sqlite.store import SqliteStore
from tests.support.backup_calls import restored, run
from tests.support.box import Box

FIRST = Path(__file__).parents[2] / "data/first_schema"


def test_a_store_that_is_gone_is_made_again_and_what_waited_then_waits_again(box):
    """A drain stores what waited at the backup, though the queue holds it as done, and what waits now, each once."""
    first = box.remember("Redis caches the invoices.")
    box.drain()
    waited = box.remember("The gateway listens on port 8443.")
    take(str(box.data))
    box.drain()
    box.remember("The frontend is built by Vite.")
    box.drain()
    still = box.remember("The staging database is Postgres 16.")
    shutil.rmtree(box.store_path().parent)
    (told,) = restored(box)
    assert (told["made"], told["memories"], told["waiting"]) == (True, 1, 1)
    box.drain()
    assert sorted(box.store("SELECT note FROM memory")) == sorted([first, waited, still])
    assert box.states() == {"done": 4}


def test_a_store_that_has_all_stays_as_it_is(box):
    """Neither what came since nor what waited then is touched, and memman says that nothing was lacking."""
    box.remember("Redis caches the invoices.")
    box.drain()
    box.remember("The gateway listens on port 8443.")
    take(str(box.data))
    box.remember("The frontend is built by Vite.")
    box.drain()
    before = box.store("SELECT * FROM record ORDER BY id")
    assert run(box, "backup", "restore", "latest") == "store 'default' lacks nothing that is in the backup\n"
    assert (box.store("SELECT * FROM record ORDER BY id"), box.states()) == (before, {"done": 3})


def test_records_that_a_store_has_lost_come_back(box):
    """A memory of which the log has no more than numbers is there again, and what came since stays."""
    lost = box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data))
    box.remember("The frontend is built by Vite.")
    box.drain()
    (uid,) = box.store("SELECT uid FROM memory WHERE note = ?", lost)
    with closing(SqliteStore(str(box.store_path()))) as store, store.unit() as unit:
        record_log.withhold(unit.db, [uid])
        index.rewrite(unit.db, [uid])
    assert len(box.store("SELECT uid FROM memory")) == 1
    (told,) = restored(box)
    assert (told["made"], told["changed"], told["memories"]) == (False, 1, 2)
    assert box.recall("what caches the invoices") == ["Redis caches the invoices."]


def test_a_store_of_another_machine_comes_beside_what_is_there(box, tmp_path):
    """Both machines' memories hold, drains find the new ones, and a second time nothing is lacking."""
    box.remember("Redis caches the invoices.")
    box.drain()
    made = take(str(box.data))
    other = Box(tmp_path / "other", box.environ | {"MEMMAN_DATA_DIR": str(tmp_path / "other")})
    other.memman("remember", "The frontend is built by Vite.")
    assert other.memman("scheduler", "drain").returncode == 0
    shutil.copytree(box.data / "backups" / made.id, other.data / "backups" / made.id)
    assert "about 1 memory to store 'default'" in run(other, "backup", "restore", "latest")
    assert other.memman("scheduler", "drain").returncode == 0
    assert other.memman("recall", "what caches the invoices").stdout.count("Redis caches the invoices.") == 1
    assert len(other.store("SELECT uid FROM memory WHERE status = 'current'")) == 2
    assert "lacks nothing" in run(other, "backup", "restore", "latest")


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


def test_what_was_purged_since_stays_away_from_a_store_that_is_made_again(box):
    """Be it stored or waiting then; what was forgotten since is as the backup has it."""
    kept, forgotten, purged = (box.remember(text) for text in ("Redis caches.", "Vite builds.", "Nginx serves."))
    box.drain()
    late = box.remember("Postgres stores the accounts.")
    take(str(box.data))
    run(box, "forget", forgotten)
    run(box, "purge", purged, late)
    shutil.rmtree(box.store_path().parent)
    (told,) = restored(box)
    assert (told["memories"], told["waiting"], told["purged"]) == (2, 0, 1)
    box.drain()
    assert box.store("SELECT note, status FROM memory ORDER BY id") == [(kept, "current"), (forgotten, "current")]
    assert box.recall("Nginx serves") == []
    assert b"Nginx" not in b"".join(path.read_bytes() for path in box.store_path().parent.iterdir())


def test_a_backup_counts_the_memories_that_its_restore_brings_back(box):
    """What was superseded or forgotten before the backup is in it and not counted: restore counts what holds."""
    box.remember("Redis caches.")
    gone = box.remember("Vite builds.")
    box.drain()
    run(box, "forget", gone)
    assert "1 store, 1 memory, " in run(box, "backup", "create")
    assert "1 store, 1 memory, " in run(box, "backup", "list")
    assert "1 store, 1 memory, " in run(box, "backup", "verify", "latest")
    shutil.rmtree(box.store_path().parent)
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
    """Whether it waited or lived at the backup, what was forgotten stays so; another store made of it is as it was."""
    box.remember("Vite builds the frontend.")
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
    before = box.store("SELECT note, text, status FROM memory ORDER BY id")
    args = {"whole": (), "store": ("--store", "default"), "to": ("--store", "default", "--to", "old")}[how]
    restored(box, *args)
    box.queue("UPDATE note SET state = 'pending' WHERE state = 'parked'")
    box.drain()
    assert box.store("SELECT note, text, status FROM memory ORDER BY id") == before
    assert set(box.states()) <= {"done"}
    if how == "to":
        texts = box.store("SELECT text FROM memory WHERE status = 'current'", name="old")
        back = [SINCE[since] for since in cases if then == "stored" and since != "purged"]
        assert sorted(texts) == sorted(["Vite builds the frontend.", *back])
    assert not [since for since in AWAY if since in notes and SINCE[since] in box.recall(SINCE[since])]


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
    assert (told["made"], told["waiting"]) == (True, 0)
    assert box.store("SELECT text FROM memory", name="old") == ["Redis caches the invoices."]
    assert len(box.store("SELECT text FROM memory")) == 2
    assert "already" in restored(box, "--to", "old", code=2)


def test_a_damaged_store_is_to_be_repaired_first(box):
    """A restore names the command; where nothing can be read the backup's records and vectors come back by that."""
    uid = box.remember("Redis caches the invoices.")
    box.drain()
    take(str(box.data))
    ruin(box.store_path())
    assert "memman doctor" in restored(box, code=12)
    assert box.store_path().read_bytes()[:11] == b"no database"
    box.person("repair")
    assert box.store("SELECT note FROM memory") == [uid]
    assert box.store("SELECT DISTINCT memory FROM vector") == [1]
    assert {path.read_bytes()[:11] for path in box.store_path().parent.glob("*.damaged-*")} == {b"no database"}


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


def test_a_backup_of_an_earlier_memman_becomes_a_store_of_its_own(box):
    """Its memories have no records yet, which each copy would make anew."""
    box.store_path().parent.mkdir(0o700, parents=True)
    box.store_path().write_bytes(lzma.decompress((FIRST / "memman.db.xz").read_bytes()))
    box.store_path().chmod(0o600)
    take(str(box.data))
    known = box.store("SELECT uid FROM memory ORDER BY id")
    assert "--to restores it" in restored(box, code=2)
    assert restored(box, "--to", "old")[0]["made"]
    assert box.store("SELECT uid FROM memory ORDER BY id", name="old") == known
