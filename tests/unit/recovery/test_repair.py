"""A damaged store or queue is made anew: all say what is wrong, nothing touches it, and recall answers as before."""

import random
from contextlib import closing

import apsw
import pytest

from memman.config.schedule import silence
from memman.hot.recall import found
from memman.model.records import Draft, Fact
from memman.queue.append import append
from memman.queue.schema import STEPS as QUEUE
from memman.queue.schema import open_queue
from memman.recovery.backup import take
from memman.recovery.check import troubles
from memman.recovery.copies import holding
from memman.recovery.purge import purge
from memman.recovery.repair import exchange, repair, repair_queue
from memman.sqlite import open_writer
from memman.store.filters import Filters
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.store import SqliteStore
from tests.support.box import NOTE

NOTES = [f"The queue {n} was slow." for n in range(12)]
QUESTION = "which queue was slow"
# Place and new byte on the queue's first page: its schema's version, kind of file, magic, page size, kind of page.
SPOILT = [(63, 0), (63, 2), (63, max(QUEUE) + 1), (60, 128), (18, 3), (19, 3), (20, 8), (3, 0), (16, 0), (104, 0)]


@pytest.fixture
def waiting(box):
    """Give a box in which notes wait, all in the queue's one file."""
    for note in NOTES:
        box.remember(note)
    with closing(open_writer(str(box.queue_path), checked=False)) as db:
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return box


@pytest.fixture
def stored(box):
    """Give a box whose store holds memories."""
    for note in NOTES:
        box.remember(note)
    box.drain()
    return box


def put(path, place, byte):
    """Write one byte of a file; return its content then."""
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([byte]))
    return path.read_bytes()


def refused(box, codes, *verbs):
    """Run `remember`, or other verbs, and a drain; each must end with one of these codes, and name what helps."""
    for args in verbs or (("remember", "One more."), ("scheduler", "drain")):
        said = box.memman(*args)
        assert said.returncode in codes, args
        assert said.returncode == 14 or "memman repair" in said.stderr or "memman doctor" in said.stderr
        assert len(said.stderr.splitlines()) == 1


@pytest.mark.parametrize(("place", "byte"), SPOILT)
def test_a_wrong_byte_of_the_first_page_wedges_no_queue(waiting, place, byte):
    """`remember` and drains end with 12 and name doctor or repair, which keeps every note, in the same file.

    A number that a newer memman may have written ends them with 14; doctor looks closer, and repair mends that, too.
    """
    spoilt, inode = put(waiting.queue_path, place, byte), waiting.queue_path.stat().st_ino
    refused(waiting, {14 if (place, byte) == (63, max(QUEUE) + 1) else 12})
    shown = waiting.memman("recall", QUESTION)
    assert "slow" in shown.stdout or shown.stderr
    assert "memman repair --queue" in waiting.memman("doctor").stdout
    done = repair_queue(str(waiting.data))
    with open(done.aside, "rb") as original:
        assert original.read() == spoilt
    assert waiting.states() == {"pending": done.kept} == {"pending": len(NOTES)}
    assert troubles(str(waiting.queue_path), QUEUE) == ""
    assert waiting.queue_path.stat().st_ino == inode
    waiting.remember("One more.")


@pytest.mark.parametrize(("place", "byte"), [(63, 0), (63, 1), (63, 2), (63, max(STORE) + 1)])
def test_a_wrong_byte_of_a_stores_version_is_damage(stored, place, byte):
    """Nothing is upgraded, doctor names repair, and repair keeps every memory."""
    put(stored.store_path(), place, byte)
    assert stored.memman("recall", QUESTION).stderr
    stored.remember("One more.")
    assert stored.memman("scheduler", "drain").returncode == 12
    assert "memman repair --store default" in stored.memman("doctor").stdout
    assert repair(str(stored.data), "default").kept == len(NOTES)
    assert troubles(str(stored.store_path()), STORE) == ""
    stored.drain()
    assert len(stored.store("SELECT id FROM memory")) == len(NOTES) + 1


def test_a_store_of_a_newer_version_is_not_repaired(stored):
    """Its columns may be others: it is left as it is, with a word to upgrade."""
    with closing(apsw.Connection(str(stored.store_path()))) as db:
        db.execute(f"ALTER TABLE memory RENAME COLUMN summary TO gist; PRAGMA user_version = {max(STORE) + 1}")
    done = stored.memman("repair", "--store", "default")
    assert (done.returncode, "upgrade memman" in done.stderr) == (14, True)
    assert len(stored.store("SELECT gist FROM memory")) == len(NOTES)


def test_a_changed_word_of_the_schema_is_damage(waiting):
    """A table whose words are not those of the schema is told of."""
    content = waiting.queue_path.read_bytes()
    waiting.queue_path.write_bytes(content.replace(b"attempts INTEGER NOT", b"attempts INTEGER NOW"))
    assert troubles(str(waiting.queue_path), QUEUE)
    assert repair_queue(str(waiting.data)).kept == len(NOTES)


def test_a_store_that_says_it_is_older_has_its_checksums_looked_at(stored):
    """With a wrong version and a changed text the text is not kept, and a record is said to be lost."""
    content = stored.store_path().read_bytes().replace(b"The queue 2 was slow", b"The queue 2 was fast")
    stored.store_path().write_bytes(content)
    put(stored.store_path(), 63, 1)
    done = repair(str(stored.data), "default")
    assert (done.kept, done.damaged, done.replaced) == (len(NOTES) - 1, 1, 0)
    assert not [text for text in stored.recall(QUESTION) if "fast" in text]


def test_a_note_that_a_store_has_learned_is_not_lost_with_its_row(sound):
    """Of a queue whose pages of notes are gone only what no store has is named."""
    box, _ = sound
    lost = box.remember("A note that waits.")
    with closing(apsw.Connection(str(box.queue_path))) as db:
        db.pragma("wal_checkpoint(TRUNCATE)")
    pages = [page for page, name in owners(box.queue_path).items() if name == "note"]
    content = bytearray(box.queue_path.read_bytes())
    for page in pages[1:]:
        content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    box.queue_path.write_bytes(content)
    done = repair_queue(str(box.data))
    assert done.kept < 200
    assert set(done.lost) <= {lost}


@pytest.mark.parametrize("gone", [False, True])
def test_a_full_log_beside_an_empty_queue_is_kept(box, gone):
    """`recall`, `remember`, a drain and doctor leave the log as it is and say so; repair takes every note from it."""
    for note in NOTES:
        box.remember(note)
    log = box.data / "queue.db-wal"
    content = log.read_bytes()
    box.queue_path.unlink() if gone else box.queue_path.write_bytes(b"")
    assert gone or "empty" in box.memman("recall", QUESTION).stderr
    refused(box, {12})
    assert gone or "memman repair --queue" in box.memman("doctor").stdout
    assert log.read_bytes() == content
    done = repair_queue(str(box.data))
    assert (done.kept, done.lost) == (len(NOTES), ())
    assert troubles(str(box.queue_path), QUEUE) == ""
    box.drain()
    assert box.states() == {"done": len(NOTES)}


def test_a_full_log_beside_an_empty_store_is_kept(stored):
    """What the log has of a store that is empty is saved, and recall says so before."""
    with closing(SqliteStore(str(stored.store_path()))) as store:
        store.db.execute("VACUUM")
        log = stored.store_path().with_name("memman.db-wal")
        content = log.read_bytes()
    stored.store_path().write_bytes(b"")
    log.write_bytes(content)
    refused(stored, {12}, ("recall", QUESTION))
    assert log.read_bytes() == content
    assert repair(str(stored.data), "default").kept == len(NOTES)


def test_a_store_emptied_or_gone_is_said(stored):
    """Recall and a drain end with 12 on an empty file that held memories; doctor warns of one that is gone."""
    stored.store_path().write_bytes(b"")
    stored.remember("One more.")
    refused(stored, {12}, ("recall", QUESTION))
    assert stored.memman("scheduler", "drain").returncode == 12
    assert stored.store_path().stat().st_size == 0
    assert stored.states() == {"done": len(NOTES), "pending": 1}
    stored.store_path().unlink()
    assert "the database of store 'default' is missing" in stored.memman("doctor").stdout


def test_a_store_that_was_only_begun_is_no_damage(box):
    """An empty file that nothing was ever stored in is filled by the next drain."""
    box.remember(NOTES[0])
    box.store_path().parent.mkdir(mode=0o700, parents=True)
    box.store_path().touch(mode=0o600)
    assert box.recall(QUESTION) == NOTES[:1]
    box.drain()
    assert box.states() == {"done": 1}


def test_what_a_killed_repair_left_is_named_and_swept(waiting):
    """A folder with copies is among the places that hold a note, and the next repair removes it."""
    uid = waiting.queue("SELECT uid FROM note")[0]
    place = waiting.data / ".repair-killed"
    place.mkdir(mode=0o700)
    (place / "read.db").write_bytes(waiting.queue_path.read_bytes())
    assert holding(str(waiting.data), [uid]) == ([], [str(place / "read.db")])
    assert repair_queue(str(waiting.data)).wrong == ""
    assert not place.exists()


def test_an_exchange_that_is_not_committed_changes_nothing(waiting, tmp_path):
    """Given up before its end, an exchange leaves file and log as they were, and writers go on."""
    open_queue(str(tmp_path / "new.db")).close()
    with exchange(str(waiting.queue_path), str(tmp_path)):
        pass
    append(str(waiting.data), NOTE | {"text": "It came after."})
    assert waiting.states() == {"pending": len(NOTES) + 1}
    assert (tmp_path / "damaged.db").stat().st_size == waiting.queue_path.stat().st_size


PAGE = 4096
KINDS = (
    "Service {n} listens on port {p}.",
    "Redis caches the invoices of customer {n} on host cache-{r}.",
    "Maria keeps the deploys of team {n} in the handbook, chapter {r}.",
    "The queue {n} was slow because its worker {r} ran out of memory.",
)
ASKED = (
    "Which port does service {n} listen on?",
    "What caches the invoices of customer {n}?",
    "Who keeps the deploys of team {n}?",
    "Why was queue {n} slow?",
)
STATES = (
    "SELECT uid, note, text, status, retired_at, entities FROM memory ORDER BY uid",
    "SELECT o.uid, n.uid FROM memory o JOIN memory n ON n.id = o.superseded_by ORDER BY 1",
    "SELECT note, at, outcome FROM receipt ORDER BY note",
    "SELECT uid, text FROM rule ORDER BY uid",
    "SELECT m.uid, s.session FROM shown s JOIN memory m ON m.id = s.memory ORDER BY 1",
)


@pytest.fixture
def sound(box):
    """Give a box whose store has 200 memories in its one file, and that file's bytes."""
    for n in range(200):
        text = KINDS[n % 4].format(n=n, p=8000 + n, r=n % 7)
        box.remember(text, session=f"session-{n // 6}", repository="example.org/shop" if n % 3 else "")
    box.drain()
    uids = box.store("SELECT uid FROM memory ORDER BY id")
    assert box.memman("forget", uids[4], uids[9]).returncode == 0
    assert box.memman("rule", "add", "Never push to main.").returncode == 0
    box.store("INSERT INTO shown(memory, session, way, agent, at) VALUES (7, 's', 'prompt', 'a', 5)")
    with closing(SqliteStore(str(box.store_path()))) as store:
        store.unit()
        with store.unit() as unit:
            unit.supersede(20, 24, 10**12, 10**12, "test")
    assert box.memman("graph", "rebuild").returncode == 0
    return box, box.store_path().read_bytes()


def answers(box):
    """Ask 50 questions; return what is shown of each."""
    asked = [ASKED[n % 4].format(n=n) for n in range(0, 200, 4)]
    return [[hit.row.uid for hit in found(str(box.data), "default", one, Filters(), 3, None)] for one in asked]


def states(box):
    """Return what the index says."""
    return [box.store(sql) for sql in STATES]


def spoil(path, content, page):
    """Give a store this content but for some bytes of one page, and no log beside it."""
    for one in path.parent.glob(path.name + "*"):
        one.unlink()
    at = page * PAGE + 3000
    path.write_bytes(content[:at] + bytes(byte ^ 0x5A for byte in content[at : at + 64]) + content[at + 64 :])
    path.chmod(0o600)


def owners(path):
    """Return the table or index that each page belongs to."""
    with closing(apsw.Connection(str(path))) as db:
        return {page - 1: name for page, name in db.execute("SELECT pageno, name FROM dbstat")}


@pytest.mark.slow
@pytest.mark.promise("R15")
def test_whatever_page_is_changed_recall_answers_as_before(sound, rounds, kept):
    """A page of each table and index in turn, and pages by chance: with a backup everything is as it was."""
    box, content = sound
    right, before = answers(box), states(box)
    take(str(box.data))
    pages, chance = owners(box.store_path()), random.Random(33)
    one_each = sorted({name: page for page, name in pages.items()}.values())
    chosen = chance.sample(one_each, min(len(one_each), rounds(6, 100))) + chance.sample(sorted(pages), rounds(2, 100))
    same = 0
    for page in chosen:
        spoil(box.store_path(), content, page)
        done = repair(str(box.data), "default")
        assert done.wrong, pages[page]
        assert done.damaged == done.replaced, pages[page]
        assert troubles(str(box.store_path()), STORE) == ""
        assert states(box)[:4] == before[:4], pages[page]
        box.drain()  # vectors that lay on the page are made anew
        now = answers(box)
        assert [one[0] for one in now] == [one[0] for one in right], pages[page]
        same += sum(one == other for one, other in zip(now, right, strict=True))
    assert same >= 0.9 * 50 * len(chosen)
    kept(f"{len(chosen)} damaged pages: {same} of {50 * len(chosen)} answers as before, no record lost")


def test_an_index_that_is_gone_is_made_again(sound):
    """Without a backup, and without any row of the index, the log alone brings back what was known."""
    box, _ = sound
    right, before = answers(box), states(box)
    with closing(SqliteStore(str(box.store_path()))) as store:
        for table in ("memory", "fts", "vector", "link", "receipt", "rule"):
            store.db.execute(f"PRAGMA foreign_keys = OFF; DELETE FROM {table}")
        store.db.execute("DROP TABLE evidence")
    said = box.memman("repair")
    assert said.returncode == 0
    assert "not as schema" in said.stdout
    assert "of the log could not be read" not in said.stdout
    assert states(box)[:4] == before[:4]
    box.drain()
    assert [one[0] for one in answers(box)] == [one[0] for one in right]


def test_what_a_lost_page_of_the_log_had_is_named(sound):
    """Without a backup what that page had is lost, and named; all else is as it was."""
    box, content = sound
    before = dict(box.store("SELECT uid, text FROM memory"))
    (page,) = [number for number, name in owners(box.store_path()).items() if name == "record"][3:4]
    spoil(box.store_path(), content, page)
    said = box.memman("repair")
    assert said.returncode == 0
    assert "of the log could not be read: 0 came from the last backup, " in said.stdout
    assert "the damaged file was moved to" in said.stdout
    after = dict(box.store("SELECT uid, text FROM memory"))
    assert after.items() < before.items()
    assert len(after) > 190
    lost = before.keys() - after.keys()
    assert f"lost {len(lost)}: {', '.join(sorted(lost))}" in said.stdout
    assert box.memman("repair").stdout == "nothing is wrong with store 'default'\n"


def test_what_no_record_has_is_named(sound):
    """A memory whose records are lost is named, and none that was forgotten or purged comes back."""
    box, _ = sound
    away, gone, ended = (box.store(f"SELECT uid FROM memory WHERE id = {row}")[0] for row in (30, 31, 5))
    purge(str(box.data), "default", [gone])
    broken = f"memory IN ('{away}', '{gone}') OR memory = '{ended}' AND kind = 'retired'"
    box.store(f"UPDATE record SET sum = sum + 1 WHERE {broken}")
    assert repair(str(box.data), "default").lost == (away,)
    assert box.store(f"SELECT uid, status FROM memory WHERE uid IN ('{away}', '{gone}', '{ended}')") == [
        (ended, "forgotten")
    ]


def test_a_damaged_name_of_a_host_is_that_of_the_backup(box):
    """Though its first records, which a purge has emptied, have no checksum that could tell."""
    with closing(SqliteStore(str(box.store_path()))) as store, store.unit() as unit:
        unit.add(Draft("f" * 20, "e" * 32, Fact("The heron nests."), "user", "one", 1), 1)
    box.remember("Vite builds the frontend.")
    box.drain()
    purge(str(box.data), "default", box.store("SELECT uid FROM memory WHERE id = 1"))
    take(str(box.data))
    before = states(box)
    (name,) = box.store("SELECT name FROM host WHERE id = 1")
    (page,) = [number for number, owner in owners(box.store_path()).items() if owner == "host"]
    content = box.store_path().read_bytes()
    at = content.index(name.encode(), page * PAGE)
    other = b"1" if name[0] == "0" else b"0"  # a name still
    spoil(box.store_path(), content[:at] + other + content[at + 1 :], len(content) // PAGE + 1)
    done = repair(str(box.data), "default")
    assert done.wrong
    assert done.damaged == done.replaced
    assert (states(box), box.store("SELECT name FROM host WHERE id = 1")) == (before, [name])


def test_a_repair_asks_for_a_drain_of_what_waited_meanwhile(stored):
    """A note that was taken while the store could not be read is not left until somebody writes again."""
    put(stored.store_path(), 100, 0)
    stored.remember("One more.")
    silence(str(stored.data))
    assert repair(str(stored.data), "default").wrong
    assert silence(str(stored.data))


def test_a_store_without_a_file_is_not_asked_about(stored):
    """What brings it back is a backup, and that is said before anything is asked."""
    for path in stored.store_path().parent.glob("memman.db*"):
        path.unlink()
    done = stored.person("repair")
    assert (done.returncode, done.asked) == (11, "")
    assert "store 'default' has no file to repair: " in done.stderr
