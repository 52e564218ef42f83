"""queue.db: every note lands once, waits in order, and no file is ever readable by others or harmed."""

import os
import re
import stat

import pytest

from memman.model.errors import CannotWrite, DamagedFile, NewerSchema
from memman.model.uid import new_uid
from memman.queue.ledger import Journal, Ledger
from memman.queue.notes import Queue
from tests.support.box import PATIENCE

UID = re.compile(r"[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}")


def test_a_uid_is_a_uuid_of_version_7():
    """A uid has 128 bits: the milliseconds first, then version and variant, and chance in all the others."""
    now = 1_795_000_000_123
    uids = [new_uid(now) for _ in range(2000)]
    assert all(UID.fullmatch(uid) and int(uid[:12], 16) == now for uid in uids)
    assert len(set(uids)) == 2000
    ones = zeros = 0
    for uid in uids:
        ones |= int(uid, 16)
        zeros |= ~int(uid, 16) & (1 << 128) - 1
    chance = ((1 << 12) - 1) << 64 | (1 << 62) - 1
    assert ones & zeros == chance


def test_uids_sort_by_time():
    """Uids of later milliseconds sort after earlier ones as text."""
    uids = [new_uid(now) for now in range(1_795_000_000_000, 1_795_000_000_500)]
    assert uids == sorted(uids)


def test_the_same_text_waiting_twice_is_one_note(box):
    """Text that waits already is not queued again, and its first uid is printed."""
    first, again = box.memman("remember", "Redis caches sessions."), box.memman("remember", "Redis caches sessions.")
    assert first.stdout == again.stdout
    other = {box.remember("Redis caches sessions.", **more) for more in ({"store": "other"}, {"replaces": "ab"})}
    assert len(other | {first.stdout.strip()}) == 3
    assert box.states() == {"pending": 3}


def test_what_is_said_again_after_something_else_is_a_note_of_its_own(box):
    """From A to B, back to A, and to B again, all before a drain: the last state is in force."""
    there = "We moved the web shop from Vercel to Coolify."
    back = "We moved the web shop from Coolify to Vercel."
    uids = [box.remember(text) for text in (there, back, there, there)]
    assert len(set(uids)) == 3
    assert uids[2] == uids[3]
    assert box.drain().done == 3
    assert box.store("SELECT note FROM memory WHERE status = 'current'") == [uids[2]]
    assert box.recall("Where does the web shop run?")[:1] == [there]


def test_notes_of_other_stores_do_not_come_between(box):
    """The newest note of a store is what a repetition is compared with, whatever the others hold."""
    first = box.remember("Redis caches sessions.")
    box.remember("Redis caches carts.", store="other")
    assert box.remember("Redis caches sessions.") == first


def test_the_same_text_after_it_was_drained_is_a_new_note(box):
    """What was stored before may be remembered again, as a note of its own."""
    first = box.remember("Redis caches sessions.")
    box.drain()
    assert box.remember("Redis caches sessions.") != first
    assert box.drain().known == 1
    assert box.states() == {"done": 2}
    assert len(box.store("SELECT id FROM memory")) == 1


def test_a_parked_note_whose_twin_waits_is_stored_once(box):
    """Retrying a parked note while the same text waits leaves one memory."""
    parked = box.remember("Redis caches sessions.")
    box.queue("UPDATE note SET state = 'parked', attempts = 5")
    twin = box.remember("Redis caches sessions.")
    assert twin != parked
    queue = Queue(str(box.data))
    assert queue.retry(parked)
    assert not queue.retry(parked)
    queue.close()
    assert box.drain().known == 1
    assert box.store("SELECT note FROM memory") == [parked]


def test_a_parked_note_is_drained_after_a_retry(box):
    """A person's retry gives a parked note all its attempts back."""
    uid = box.remember("Redis caches sessions.")
    box.queue("UPDATE note SET state = 'parked', attempts = 5, deferrals = 9, retry_at = 9e15, error = 'x'")
    assert box.drain().done == 0
    queue = Queue(str(box.data))
    assert queue.retry(uid)
    queue.close()
    assert box.drain().done == 1


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777])
def test_every_file_and_folder_is_private_whatever_the_umask(box, mask):
    """Folders are 0700 and files 0600 from the start, the logs and the lock among them."""
    run = {"umask": mask}
    assert box.memman("remember", "Redis caches sessions.", **run).returncode == 0
    old = os.umask(mask)
    try:
        box.drain()
        assert box.memman("recall", "Redis caches", **run).stdout
        box.memman("remember", "Redis caches invoices.", **run)
    finally:
        os.umask(old)
    found = {str(path.relative_to(box.data)): path.stat() for path in [box.data, *box.data.rglob("*")]}
    wanted = {name: 0o700 if stat.S_ISDIR(info.st_mode) else 0o600 for name, info in found.items()}
    assert {name: stat.S_IMODE(info.st_mode) for name, info in found.items()} == wanted
    assert {"queue.db-wal", "queue.db-shm", "drain.lock", "shown.log", "data/default/memman.db-wal"} <= found.keys()


def contents(box):
    """Return the bytes and the time of change of every database file."""
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in box.data.rglob("*.db")}


@pytest.mark.parametrize("which", ["queue", "store"])
def test_a_newer_schema_is_refused_untouched(box, which):
    """A file of a newer memman ends every verb that needs it with 14, and stays as it is."""
    box.remember("Redis caches sessions.")
    box.drain()
    box.remember("Redis caches invoices.")
    (box.queue if which == "queue" else box.store)("PRAGMA user_version = 99")
    (box.queue if which == "queue" else box.store)("PRAGMA wal_checkpoint(TRUNCATE)")
    before = contents(box)[box.queue_path if which == "queue" else box.store_path()]
    if which == "queue":
        refused = box.memman("remember", "Redis caches carts.")
        assert (refused.returncode, refused.stdout) == (14, "")
        with pytest.raises(NewerSchema):
            box.drain()
    else:
        refused = box.memman("recall", "Redis caches")
        assert (refused.returncode, refused.stdout) == (14, "")
        assert "newer" in box.drain().errors[0] or "upgrade" in box.drain().errors[0]
        assert box.states()["pending"] == 1
    assert "upgrade" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert contents(box)[box.queue_path if which == "queue" else box.store_path()] == before


GARBAGE = {"text": b"no database\n" * 700, "noise": os.urandom(8192), "header": b"SQLite format 3\0" + b"\xff" * 8000}


@pytest.mark.parametrize("garbage", GARBAGE.values(), ids=GARBAGE.keys())
def test_a_damaged_queue_is_refused_untouched(box, garbage):
    """A queue.db that is no database ends `remember` and the drain with 12, byte for byte as it was."""
    box.data.mkdir()
    box.queue_path.write_bytes(garbage)
    refused = box.memman("remember", "Redis caches sessions.")
    assert (refused.returncode, refused.stdout, refused.stderr.count("\n")) == (12, "", 1)
    assert "queue.db" in refused.stderr
    with pytest.raises(DamagedFile):
        box.drain()
    assert box.queue_path.read_bytes() == garbage


def test_the_log_is_truncated_by_each_drain(box):
    """Each remember grows the write-ahead log, and a drain empties it, the note that waits notwithstanding."""
    wal = box.queue_path.with_name("queue.db-wal")
    for n in range(5):
        box.memman("remember", f"Worker {n} reads.")
    assert wal.stat().st_size > 10_000
    box.drain(notes=1)
    assert wal.stat().st_size == 0
    assert box.queue("SELECT count(*) FROM note") == [5]


@pytest.mark.parametrize("prepared", [False, True], ids=["first use", "later"])
def test_thirty_parallel_remembers_beside_running_drains_all_land(box, prepared):
    """Thirty processes remember at once while drains come and go: each exits 0 with its uid, and none says busy."""
    if prepared:
        box.remember("Something is there already.")
        box.drain()
    running = [box.start(box.script, "remember", f"Parallel note number {n} counts.") for n in range(30)]
    drains = [box.start_drain() for _ in range(2)]
    ends = [process.communicate(timeout=PATIENCE) for process in running]
    assert [err for _, err in ends] == [""] * 30
    assert all(process.returncode == 0 for process in running)
    for drain in drains:
        _, err = drain.communicate(timeout=PATIENCE)
        assert drain.returncode in {0, 75}, err
    while box.drain().done:
        pass
    uids = {out.strip() for out, _ in ends}
    assert len(uids) == 30
    assert uids <= set(box.store("SELECT note FROM receipt"))
    assert box.states() == {"done": 30 + prepared}
    assert len(box.store("SELECT id FROM memory WHERE text LIKE 'Parallel note%'")) == 30


def test_a_full_disk_is_the_disks_fault_not_the_notes(box):
    """Journal and ledger say CannotWrite when the file cannot grow, which stops the drain and spends no attempt."""
    from memman.model.records import Usage

    uid = box.remember("Redis caches sessions.")
    queue = Queue(str(box.data))
    queue.db.execute(f"PRAGMA max_page_count = {queue.db.execute('PRAGMA page_count').get}")
    with pytest.raises(CannotWrite, match="disk is full"):
        Journal(queue.db).write(uid, "extract", "1", "x" * 100_000)
    with pytest.raises(CannotWrite, match="disk is full"):
        Ledger(queue.db).enter("extract", "p" * 100_000, "m", Usage())
    queue.close()


@pytest.mark.parametrize("size", [(65_536, 0), (65_537, 2)])
def test_text_is_taken_up_to_its_limit_in_bytes(box, size):
    """64 KiB are taken whole, one byte more is refused with 2 and queues nothing."""
    length, code = size
    ended = box.memman("remember", "-", input="é" * (length // 2) + "x" * (length % 2))
    assert ended.returncode == code
    kept = box.queue("SELECT length(CAST(text AS BLOB)) FROM note") if box.queue_path.exists() else []
    assert kept == ([] if code else [65_536])


@pytest.mark.parametrize("text", ["", "   \n\t ", "\0binary", "\udcff\udcfe"])
def test_text_that_is_none_is_refused(box, text):
    """Empty, blank and binary text ends with 2 and one line, and makes no file."""
    ended = box.memman("remember", "-", input=os.fsencode(text), text=False)
    assert (ended.returncode, ended.stdout, ended.stderr.count(b"\n")) == (2, b"", 1)
    assert not box.queue_path.exists()


UNICODE = (
    *("日本語のメモ", "🙂🙃", "Zeile eins\n\n\tZeile zwei\r\n", "a\u200bb \u202e c"),
    *("e\u0301 \U0001f468\u200d\U0001f469", "-- '; DROP TABLE note"),
)


@pytest.mark.parametrize("text", UNICODE)
def test_any_unicode_is_kept_as_it_was_given(box, text):
    """Any text comes back from the queue as it was given, blanks around it apart."""
    assert box.memman("remember", "--", text).returncode == 0
    assert box.queue("SELECT text FROM note") == [text.strip()]


def test_a_note_of_another_state_is_never_claimed(box):
    """Only pending notes that are due come up, oldest first, each once until rewound."""
    for n in range(4):
        box.remember(f"Worker {n}.")
    box.queue("UPDATE note SET state = 'parked' WHERE text = 'Worker 0.'")
    box.queue("UPDATE note SET retry_at = ? WHERE text = 'Worker 1.'", 2**62 // 10**6)
    queue = Queue(str(box.data))
    assert queue.claim().text == "Worker 1.", "a time further off than any we set is a clock turned back"
    assert queue.claim().text == "Worker 2."
    assert queue.claim().text == "Worker 3."
    assert queue.claim() is None
    assert queue.rescue() == 3
    assert queue.claim() is None
    queue.rewind()
    assert queue.claim(shut=("default",)) is None
    assert queue.claim(store="default").text == "Worker 1."
    queue.close()


def test_only_a_note_that_was_alone_when_a_drain_died_has_spent_an_attempt(box):
    """Of several in flight nobody knows which one is to blame: all are suspects, until each was tried alone."""
    first, second = [box.remember(f"Worker {n}.") for n in range(2)]
    queue = Queue(str(box.data))
    for attempts in ((0, 0), (1, 0), (2, 0)):
        queue.rewind()
        queue.claim()
        if attempts == (0, 0):
            queue.claim()
        queue.rescue()
        assert tuple(box.queue("SELECT attempts FROM note ORDER BY id")) == attempts
        assert queue.suspects() == {first: "default", second: "default"}
    queue.rewind()
    queue.claim()
    queue.done(first)
    assert queue.suspects() == {second: "default"}
    queue.close()


def test_no_byte_of_a_drained_note_is_left_in_the_queue(box):
    """A note's text is taken out of its row once it is done, and out of the pages that held it."""
    for number in range(12):
        box.remember(f"The quokka{number} eats leaves, {'roots and bark, ' * (number % 7 * 20)}and sleeps.")
    box.drain()
    assert set(box.queue("SELECT text FROM note")) == {""}
    assert b"quokka" not in b"".join(path.read_bytes() for path in box.data.glob("queue.db*"))
