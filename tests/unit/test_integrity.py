"""Damage is seen: by a page's checksum, by a row's digest; and `repair` makes anew what can be read."""

from pathlib import Path

import apsw
import pytest

from memman.model.records import Draft, Fact
from memman.sqlite import CHECKED, CHECKSUM_BYTES, open_reader, open_writer
from memman.store.sqlite.seal import SEALED, sound
from memman.store.sqlite.store import SqliteStore

FACTS = ("Redis caches the sessions of billing.", "Postgres keeps the invoices of billing.", "Billing runs on Fly.io.")
PAGE = 4096


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
    process = box.start(box.script, *args, **environ)
    out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def spoil(path, what, into):
    """Change bytes of a file where they stand."""
    data = path.read_bytes()
    assert what in data
    path.write_bytes(data.replace(what, into))


def test_every_memory_carries_the_digest_of_what_it_says(stored):
    """Whatever is done to a memory, its digest is that of its row."""
    uids = stored.store("SELECT uid FROM memory ORDER BY id")
    stored.memman("forget", uids[0])
    stored.memman("forget", uids[1])
    stored.memman("forget", "--undo", uids[1])
    stored.remember("Billing runs on Hetzner.", replaces=uids[2])
    stored.drain()
    rows = stored.store(f"SELECT {', '.join(SEALED)}, digest FROM memory")
    assert {row[15] for row in rows} == {"current", "superseded", "forgotten"}
    assert all(sound(row) for row in rows)


def test_a_row_that_was_changed_is_left_out_and_said(stored):
    """Recall shows the others, one line says that one is damaged, `insights show` and doctor say which."""
    stored.store("UPDATE memory SET text = 'Redis caches the secrets of billing.' WHERE id = 1")
    code, out, err = run(stored, "recall", "what does Redis cache for billing")
    assert code == 0
    assert "secrets" not in out
    assert "Postgres" in out
    assert err.count("\n") == 1
    assert "damaged" in err
    assert "memman doctor" in err
    uid = stored.store("SELECT uid FROM memory WHERE id = 1")[0]
    assert '"damaged": true' in run(stored, "insights", "show", "--json", uid)[1]
    code, out, _ = run(stored, "doctor")
    assert code == 1
    assert uid in out
    assert "memman repair --store default" in out


def test_a_changed_byte_on_any_page_is_said(stored):
    """A page that is not what was written is no answer: recall ends with 12 and names doctor, which names repair."""
    spoil(stored.store_path(), b"Redis caches", b"Rodis caches")
    code, out, err = run(stored, "recall", "what does Redis cache for billing")
    assert (code, out) == (12, "")
    assert "memman doctor" in err
    assert "memman repair --store default" in run(stored, "doctor")[1]


def test_repair_keeps_what_is_sound_and_the_damaged_file(stored):
    """The damaged memory alone is gone, the file that held it lies beside, and a second repair finds nothing."""
    spoil(stored.store_path(), b"Redis caches", b"Rodis caches")
    damaged = stored.store_path().read_bytes()
    code, out, err = run(stored, "repair")
    assert (code, err) == (0, "")
    assert "kept 2 memories" in out
    assert "lost 1" in out
    (aside,) = stored.store_path().parent.glob("memman.db.damaged-*Z")
    assert aside.read_bytes() == damaged
    assert aside.stat().st_mode & 0o777 == 0o600
    assert stored.recall("where does billing run")[:1] == [FACTS[2]]
    assert run(stored, "repair")[:2] == (0, "nothing is wrong with store 'default'\n")
    assert run(stored, "repair", "--queue")[:2] == (0, "nothing is wrong with queue\n")
    assert len(stored.store("SELECT note FROM receipt")) == 3


def test_what_was_forgotten_stays_so_through_a_repair(stored):
    """A repair brings back nothing that was retired, and --undo still does."""
    uid = stored.store("SELECT uid FROM memory WHERE id = 2")[0]
    stored.memman("forget", uid)
    stored.store("UPDATE memory SET importance = 1 WHERE id = 1")
    assert run(stored, "repair")[0] == 0
    assert stored.recall("what keeps the invoices") != [FACTS[1]]
    stored.memman("forget", "--undo", uid)
    assert FACTS[1] in stored.recall("what keeps the invoices")


def test_repair_of_the_queue_keeps_its_notes_and_parks_what_may_be_damaged(box):
    """Notes of other pages wait on; the one whose words may be wrong is parked."""
    uids = [box.remember(f"Note {n}. " + f"word{n} " * 600) for n in range(4)]
    db = open_writer(str(box.queue_path))
    db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    db.close()
    spoil(box.queue_path, b"Note 2. word2", b"Note 2. ward2")
    assert "cannot be read" in run(box, "recall", "word")[2]
    assert run(box, "scheduler", "drain")[0] == 12
    assert "memman repair --queue" in run(box, "doctor")[1]
    code, out, _ = run(box, "repair", "--queue")
    assert code == 0
    assert uids[2] in out
    assert dict(box.queue("SELECT uid, state FROM note ORDER BY id"))[uids[2]] == "parked"
    assert box.states()["pending"] >= 2
    assert sorted(box.queue("SELECT uid FROM note")) == sorted(uids)


def test_repair_wants_the_drain_lock_and_a_store(stored):
    """While a drain is at work repair ends with 75; a store that is not there is named."""
    from memman.drain.lock import drain_lock

    with drain_lock(str(stored.data)):
        assert run(stored, "repair")[0] == 75
    assert run(stored, "repair", "--store", "nowhere")[0] == 11


def test_new_files_have_page_checksums(stored):
    """Store and queue keep room for a checksum on each page, and say so; each page read is checked."""
    for path in (stored.store_path(), stored.queue_path):
        db = open_reader(str(path))
        assert db.reserve_bytes() == CHECKSUM_BYTES
        assert db.execute("PRAGMA application_id").get == CHECKED
        assert db.execute("PRAGMA checksum_verification").get == "1"
        db.close()


def test_a_file_that_lost_its_mark_is_damaged(stored):
    """Where the header no longer says that pages are checked, the file is refused."""
    data = bytearray(stored.store_path().read_bytes())
    data[20] = 0
    stored.store_path().write_bytes(data)
    assert run(stored, "recall", "what does Redis cache")[:2] == (12, "")
    assert run(stored, "repair")[0] == 0
    assert FACTS[0] in stored.recall("what does Redis cache")


def test_a_machine_without_the_extension_makes_plain_files_that_work(box, bare):
    """Without it everything works; a drain elsewhere gives the files checksums later."""
    assert run(box, "remember", FACTS[0], **bare)[0] == 0
    assert run(box, "scheduler", "drain", **bare)[0] == 0
    assert FACTS[0] in run(box, "recall", "what does Redis cache", **bare)[1]
    assert box.store_path().read_bytes()[20] == 0
    assert FACTS[0] in run(box, "recall", "what does Redis cache")[1]
    box.remember(FACTS[1])
    box.drain()
    assert {path.read_bytes()[20] for path in (box.store_path(), box.queue_path)} == {CHECKSUM_BYTES}
    assert FACTS[0] in box.recall("what does Redis cache")


def test_checksums_never_go_stale(stored, bare):
    """A machine that cannot keep a file's checksums reads it, and refuses to write to it in one line."""
    assert FACTS[0] in run(stored, "recall", "what does Redis cache", **bare)[1]
    for args in (("remember", "One more."), ("scheduler", "drain")):
        code, out, err = run(stored, *args, **bare)
        assert (code, out) == (74, "")
        assert err.count("\n") == 1
        assert "checksums" in err
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
        assert unit.index(held) is None
    assert store.db.execute("SELECT DISTINCT status FROM memory WHERE id > 3").get == "review"
    assert not [text for text in stored.recall("what watches billing") if "Grafana" in text]
    with store.unit() as unit:
        assert unit.forget(held[1], 2)
        assert unit.restore(held[1], 3)
        assert unit.approve(held[0], 4)
        assert not unit.approve(held[0], 5)
        unit.index(held)
    store.close()
    assert stored.store("SELECT status FROM memory WHERE id > 3 ORDER BY id") == ["current", "review"]
    assert "Billing is watched by Grafana." in stored.recall("what watches billing")


def test_an_older_store_is_recalled_from_before_any_drain(stored):
    """A store of the schema before is read as it is, and upgraded by the next drain."""
    path = stored.store_path()
    db = apsw.Connection(str(path))
    db.execute("ALTER TABLE memory DROP COLUMN digest")
    db.execute("PRAGMA user_version = 1")
    db.close()
    assert FACTS[0] in stored.recall("what does Redis cache")
