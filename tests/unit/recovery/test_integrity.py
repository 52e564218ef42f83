"""Damage is seen by the checksums of pages and records, and `repair` makes anew what can be read."""

import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from memman.model.records import Draft, Fact
from memman.queue.ledger import Journal
from memman.queue.notes import Queue
from memman.sqlite import CHECKED, CHECKSUM_BYTES, open_reader, open_writer
from memman.store.sqlite import words
from memman.store.sqlite.store import SqliteStore

FACTS = ("Redis caches the sessions of billing.", "Postgres keeps the invoices of billing.", "Billing runs on Fly.io.")


@pytest.fixture
def stored(box):
    """Give a box whose store holds three memories, all in its one file."""
    for fact in FACTS:
        box.remember(fact, session="one")
    box.drain()
    return box


@pytest.fixture
def bare(tmp_path):
    """Give the environment of a machine whose apsw came without its extensions."""
    real, ours = Path(apsw.__file__).parent, tmp_path / "bare" / "apsw"
    ours.mkdir(parents=True)
    for entry in real.iterdir():
        if entry.name != "sqlite_extra_binaries":
            (ours / entry.name).symlink_to(entry)
    return {"PYTHONPATH": str(ours.parent)}


def run(box, *args, **environ):
    """Run memman with more in its environment."""
    done = replace(box, environ=box.environ | environ).memman(*args)
    return done.returncode, done.stdout, done.stderr


def spoil(path, what, into):
    """Change bytes of a file where they stand."""
    data = path.read_bytes()
    assert what in data
    path.write_bytes(data.replace(what, into))


def test_a_changed_byte_on_any_page_is_said(stored):
    """Recall says in one line that names doctor, which names repair, what is wrong; and shows no word of it."""
    spoil(stored.store_path(), b"Redis caches", b"Rodis caches")
    code, out, err = run(stored, "recall", "what does Redis cache for billing")
    assert (code, out, err.count("\n")) == (12, "", 1)
    assert "memman doctor" in err
    assert "memman repair --store default" in run(stored, "doctor")[1]


def test_repair_keeps_what_is_sound_and_the_damaged_file(stored):
    """The damaged record alone is gone, the file that held it lies beside, and a second repair finds nothing."""
    spoil(stored.store_path(), b"Redis caches", b"Rodis caches")
    damaged = stored.store_path().read_bytes()
    code, out, err = run(stored, "repair")
    assert (code, err) == (0, "")
    assert "kept 2 memories" in out
    assert "1 record of the log could not be read: 0 came from the last backup, 1 are lost" in out
    (aside,) = stored.store_path().parent.glob("memman.db.damaged-*Z")
    assert aside.read_bytes() == damaged
    assert aside.stat().st_mode & 0o777 == 0o600
    assert stored.recall("where does billing run")[:1] == [FACTS[2]]
    assert run(stored, "repair")[:2] == (0, "nothing is wrong with store 'default'\n")
    assert run(stored, "repair", "--queue")[:2] == (0, "nothing is wrong with queue\n")
    assert len(stored.store("SELECT note FROM receipt")) == 3


@pytest.mark.slow
def test_what_was_forgotten_stays_so_through_a_repair(stored):
    """A repair brings back nothing that was retired, and --undo still does."""
    uid = stored.store("SELECT uid FROM memory WHERE id = 2")[0]
    stored.memman("forget", uid)
    stored.store("UPDATE memory SET importance = 1 WHERE id = 1")
    assert run(stored, "repair")[0] == 0
    assert stored.recall("what keeps the invoices") != [FACTS[1]]
    stored.memman("forget", "--undo", uid)
    assert FACTS[1] in stored.recall("what keeps the invoices")


def test_repair_of_the_queue_keeps_the_notes_that_can_be_read(box):
    """One whose bytes are no text any more holds up the drain until a repair names it and keeps the others."""
    uids = [box.remember(f"Note {n} is about heron{n}.") for n in range(4)]
    with closing(open_writer(str(box.queue_path), checked=False)) as db:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    spoil(box.queue_path, b"heron2", b"he\xffon2")
    assert run(box, "scheduler", "drain")[0] == 12
    assert "memman repair --queue" in run(box, "doctor")[1]
    code, out, _ = run(box, "repair", "--queue")
    assert code == 0
    assert f"lost 1: {uids[2]}" in out
    assert box.queue("SELECT uid FROM note ORDER BY id") == [uid for uid in uids if uid != uids[2]]
    assert run(box, "repair", "--queue")[:2] == (0, "nothing is wrong with queue\n")
    box.drain()
    assert box.states() == {"done": 3}


def test_what_a_stage_gave_is_done_again_where_it_is_damaged(box):
    """The journal gives back what was written by this version of a stage, and nothing where it is no JSON any more."""
    box.remember(FACTS[0])
    with closing(Queue(str(box.data))) as queue:
        journal = Journal(queue.db)
        journal.write("n", "extract", "1", '{"text": "Zürich"}')
        assert journal.read("n", "extract", "1") == '{"text": "Zürich"}'
        assert journal.read("n", "extract", "2") is None
        queue.db.execute("UPDATE journal SET output = CAST(x'7bff7d' AS TEXT)")
        assert journal.read("n", "extract", "1") is None


def foreign(path):
    """Look into a database as any other program would: it moves the log into the file when it closes it."""
    look = "import apsw, sys; db = apsw.Connection(sys.argv[1]); db.execute('SELECT * FROM sqlite_master').fetchall()"
    subprocess.run([sys.executable, "-c", f"{look}; db.close()", str(path)], check=True)
    assert not path.with_name(path.name + "-wal").exists()


def test_another_program_may_look_into_the_queue(box):
    """After it moved the queue's log into the file every note is found, others are taken, and all are stored."""
    for fact in FACTS:
        box.remember(fact)
    foreign(box.queue_path)
    assert len(box.recall("what about billing")) == 3
    code, _, err = run(box, "remember", "Billing is watched by Grafana.")
    assert (code, err) == (0, "")
    foreign(box.queue_path)
    box.drain()
    assert box.states() == {"done": 4}


def test_another_program_that_writes_a_stores_pages_costs_a_repair_and_no_memory(stored):
    """Reading says what is wrong in one line, notes are taken and wait, doctor says why, and repair loses nothing."""
    store = SqliteStore(str(stored.store_path()))
    store.db.execute("CREATE TABLE grown AS SELECT 1 AS one; DROP TABLE grown; UPDATE memory SET uses = 7")
    store.db.close()
    looks = [f"SELECT * FROM {name} ORDER BY 1" for name in ("receipt", "record")]
    held = [stored.store(look) for look in looks]
    foreign(stored.store_path())
    for args in (("recall", "what does Redis cache for billing"), ("list",), ("list", "--by-day")):
        code, out, err = run(stored, *args)
        assert (code, out, err.count("\n")) == (12, "", 1), args
        assert "memman doctor" in err
        assert "another program" in err
    said = '{"session_id": "s", "prompt": "what does Redis cache for billing"}'
    hook = (stored.script, "hook", "user-prompt", "--host", "claude-code")
    subprocess.run(hook, env=stored.environ, input=said, capture_output=True, text=True, check=True)
    assert run(stored, "remember", "Billing is watched by Grafana.")[0] == 0
    assert run(stored, "scheduler", "drain")[0] == 12
    assert stored.states()["pending"] == 1
    code, out, _ = run(stored, "doctor")
    assert code == 1
    assert "memman repair --store default" in out
    code, out, _ = run(stored, "repair")
    assert code == 0
    assert "kept 3 memories" in out
    assert "lost" not in out
    assert [stored.store(look) for look in looks] == held
    stored.drain()
    assert stored.states()["done"] == 4
    assert run(stored, "recall", "what does Redis cache for billing")[2] == ""


def test_repair_wants_the_drain_lock_and_a_store(stored):
    """While a drain is at work repair ends with 75; a store that is not there is named."""
    from memman.locks import drain_lock

    with drain_lock(str(stored.data)):
        assert run(stored, "repair")[0] == 75
    assert run(stored, "repair", "--store", "nowhere")[0] == 11


def test_new_stores_have_page_checksums(stored):
    """A store keeps room for a checksum on each page, and says so; each page read is checked. The queue has none."""
    db = open_reader(str(stored.store_path()))
    assert db.reserve_bytes() == CHECKSUM_BYTES
    assert db.execute("PRAGMA application_id").get == CHECKED
    assert db.execute("PRAGMA checksum_verification").get == "1"
    db.close()
    assert stored.queue_path.read_bytes()[20] == 0


def test_a_file_that_lost_its_mark_is_damaged(stored):
    """Where the header no longer says that pages are checked, the file is refused."""
    data = bytearray(stored.store_path().read_bytes())
    data[20] = 0
    stored.store_path().write_bytes(data)
    assert run(stored, "recall", "what does Redis cache")[:2] == (12, "")
    assert run(stored, "repair")[0] == 0
    assert FACTS[0] in stored.recall("what does Redis cache")


def test_a_machine_without_the_extension_makes_plain_files_that_work(box, bare):
    """Without it everything works, here and elsewhere."""
    assert run(box, "remember", FACTS[0], **bare)[0] == 0
    assert run(box, "scheduler", "drain", **bare)[0] == 0
    assert FACTS[0] in run(box, "recall", "what does Redis cache", **bare)[1]
    assert box.store_path().read_bytes()[20] == 0
    assert FACTS[0] in run(box, "recall", "what does Redis cache")[1]
    box.remember(FACTS[1])
    box.drain()
    assert FACTS[0] in box.recall("what does Redis cache")


def test_checksums_never_go_stale(stored, bare):
    """A machine that cannot keep a file's checksums reads it, and refuses to write to it in one line."""
    assert FACTS[0] in run(stored, "recall", "what does Redis cache", **bare)[1]
    assert run(stored, "remember", "One more.", **bare)[0] == 0
    code, out, err = run(stored, "scheduler", "drain", **bare)
    assert code == 74
    assert "checksums" in out + err
    assert stored.states()["pending"] == 1
    assert FACTS[0] in stored.recall("what does Redis cache")


def test_what_is_held_back_is_found_by_nobody_until_approved(stored):
    """Held back it is in no recall, context or vector search; approved it is, rejected it stays out, also undone."""
    store = SqliteStore(str(stored.store_path()))
    with store.unit() as unit:
        held = [
            unit.add(
                Draft(f"{n:032x}", f"{n:032x}", Fact("Billing is watched by Grafana."), "web", "one", 1), 1, held=True
            )
            for n in (7, 8)
        ]
        assert words.index(unit.db, held) is None
    assert store.db.execute("SELECT DISTINCT status FROM memory WHERE id > 3").get == "review"
    assert not [text for text in stored.recall("what watches billing") if "Grafana" in text]
    with store.unit() as unit:
        assert unit.forget(held[1], 2)
        assert unit.restore(held[1], 3)
        assert unit.approve(held[0], 4)
        assert not unit.approve(held[0], 5)
        words.index(unit.db, held)
    store.close()
    assert stored.store("SELECT status FROM memory WHERE id > 3 ORDER BY id") == ["current", "review"]
    assert "Billing is watched by Grafana." in stored.recall("what watches billing")


def test_a_command_does_not_wait_for_a_reader_to_empty_the_log(stored):
    """While somebody looks at an older state of a store, `forget` is done all the same."""
    uid = stored.store("SELECT uid FROM memory WHERE id = 1")[0]
    reader = open_reader(str(stored.store_path()))
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM memory").get == 3
    assert run(stored, "forget", uid)[0] == 0
    reader.close()
    assert FACTS[0] not in stored.recall("what does Redis cache")
