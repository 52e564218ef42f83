"""One byte of a file changed behind memman's back: no wrong answer goes unsaid, and what is off that page is saved."""

import os
import random
import shutil
from contextlib import closing

import pytest

from memman.hot.recall import found
from memman.model.errors import MemmanError
from memman.queue.notes import Queue
from memman.queue.schema import STEPS as QUEUE
from memman.recovery.check import troubles
from memman.recovery.recover import recover
from memman.store.filters import Filters
from memman.store.sqlite.schema import STEPS
from memman.store.sqlite.store import SqliteStore

MEMORIES = 300
PAGE = 4096
QUESTIONS = (
    "Which port does service 17 listen on?",
    "What caches the invoices of customer 200?",
    "Who keeps the deploys of team 41?",
    "Why was queue 33 slow?",
)


def sentence(n):
    """Return one of four kinds of sentences about number `n`."""
    kinds = (
        f"Service {n} listens on port {8000 + n}.",
        f"Redis caches the invoices of customer {n} on host cache-{n % 7}.",
        f"Maria keeps the deploys of team {n} in the handbook, chapter {n % 13}.",
        f"The queue {n} was slow because its worker {n % 5} ran out of memory.",
    )
    return kinds[n % 4]


@pytest.fixture
def sound(box, tmp_path_factory):
    """Give a box with a store of some hundred memories, all in its one file, and a copy of that file."""
    made = tmp_path_factory.getbasetemp() / "sound.db"
    if not made.exists():
        make(box, made)
    SqliteStore(str(box.store_path())).close()
    shutil.copy(made, box.data / "sound.db")
    spoil(box, 0, 0)
    return box


def make(box, path):
    """Make the store, once for all tests."""
    for n in range(MEMORIES):
        box.remember(sentence(n), session=f"session-{n // 6}")
    box.drain()
    box.memman("forget", box.store("SELECT uid FROM memory WHERE id = 5")[0])
    store = SqliteStore(str(box.store_path()))
    store.close()
    for end in ("-wal", "-shm"):
        box.store_path().with_name("memman.db" + end).unlink(missing_ok=True)
    shutil.copy(box.store_path(), path)


def answers(box, capsys):
    """Return what recall shows for each question, or that it says the store is damaged."""
    shown = []
    for question in QUESTIONS:
        try:
            hits = found(str(box.data), "default", question, Filters(), 5, None)
        except MemmanError:
            return "said"
        shown.append([(hit.row.uid, hit.row.text, hit.row.status) for hit in hits])
    return "said" if "damaged" in capsys.readouterr().err else shown


def spoil(box, place, bit):
    """Put the sound store back, but for one byte."""
    folder = box.store_path().parent
    for name in os.listdir(folder):
        (folder / name).unlink()
    data = bytearray((box.data / "sound.db").read_bytes())
    data[place] ^= bit
    box.store_path().write_bytes(data)
    box.store_path().chmod(0o600)


@pytest.mark.promise("R15")
def test_no_flipped_byte_makes_a_wrong_answer_unsaid(sound, rounds, kept, capsys):
    """Wherever one byte is changed, recall answers as before, or recall or doctor says that something is damaged.

    An answer that is wrong where doctor alone would tell of it counts as noticed.
    """
    chance = random.Random(15)
    size = (sound.data / "sound.db").stat().st_size
    right = answers(sound, capsys)
    flips, silent, told = rounds(40, 500), [], 0
    for _ in range(flips):
        place, bit = chance.randrange(size), 1 << chance.randrange(8)
        spoil(sound, place, bit)
        now = answers(sound, capsys)
        said = now == "said" or bool(wrong(sound.store_path()))
        told += said
        if not said and now != right:
            silent.append((place, bit, now))
    assert silent == []
    assert told > flips // 2
    kept(f"{flips} byte flips: {told} noticed, {flips - told} changed nothing, {len(silent)} silent wrong answers")


@pytest.mark.promise("R15")
def test_no_flipped_byte_in_a_waiting_note_is_taken_for_its_word(box, rounds, kept):
    """Wherever one byte of the queue is changed, a claim gets true notes only; of any that is missing doctor tells."""
    chance = random.Random(17)
    asked = {box.remember(sentence(n) + " é" * (n % 3)): n for n in range(40)}
    queue = Queue(str(box.data))
    right = {(note.uid, note.text, note.store, note.queued_at) for note in claimed(queue)}
    queue.db.execute("UPDATE note SET state = 'pending', attempts = 0")
    queue.close()
    assert len(right) == len(asked)
    data = box.queue_path.read_bytes()
    flips, silent, told, parked = rounds(60, 2_000), [], 0, 0
    for _ in range(flips):
        place, bit = chance.randrange(len(data)), 1 << chance.randrange(8)
        for end in ("-wal", "-shm"):
            box.queue_path.with_name("queue.db" + end).unlink(missing_ok=True)
        box.queue_path.write_bytes(data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :])
        said = bool(wrong(box.queue_path, QUEUE))
        told += said
        try:
            with closing(Queue(str(box.data))) as queue:
                found = {(note.uid, note.text, note.store, note.queued_at) for note in claimed(queue)}
                parked += queue.damaged
        except MemmanError:
            found = right if said else set()
        if not found <= right or not (said or found == right):
            silent.append((place, bit, found - right))
    assert silent == []
    assert parked
    kept(f"{flips} byte flips in the queue: {told} noticed, {parked} notes parked, {len(silent)} silently wrong")


def claimed(queue):
    """Take all notes that a drain would be given."""
    return list(iter(queue.claim, None))


def wrong(path, steps=STEPS):
    """Return what doctor's check says of a database."""
    try:
        return troubles(str(path), steps)
    except MemmanError as error:
        return str(error)


@pytest.mark.promise("R15")
def test_repair_saves_what_is_off_the_damaged_page(sound, rounds, kept):
    """After flipped bytes `repair` keeps nearly every row of other pages, the original lies beside, and all works."""
    chance = random.Random(16)
    before = {row[0]: row for row in sound.store("SELECT id, uid, text, status FROM memory")}
    notes = set(sound.store("SELECT note FROM receipt"))
    size = (sound.data / "sound.db").stat().st_size
    repaired, off, saved = 0, 0, 0
    wanted = rounds(5, 500)
    while repaired < wanted:
        place = chance.randrange(size) if repaired else chance.randrange(100)
        spoil(sound, place, 1 << chance.randrange(8))
        damaged = sound.store_path().read_bytes()
        on_page = on(damaged, place // PAGE, before)
        done = recover(str(sound.data), "default")
        if not done.wrong:
            continue
        repaired += 1
        with open(done.aside, "rb") as file:
            assert file.read() == damaged
        after = {row[0]: row for row in sound.store("SELECT id, uid, text, status FROM memory")}
        assert after.items() <= before.items()
        others = before.keys() - on_page
        off += len(others)
        saved += len(others & after.keys())
        assert not wrong(sound.store_path())
        receipts = set(sound.store("SELECT note FROM receipt"))
        assert set(sound.store("SELECT note FROM memory")) <= receipts
        assert len(receipts - notes) <= 1
        assert not after or found(str(sound.data), "default", QUESTIONS[0], Filters(), 5, None)
    assert saved / off >= 0.99
    kept(f"{repaired} repairs: {saved} of {off} rows off the damaged page kept, originals kept")


def on(damaged, number, before):
    """Return the rows whose text lies on a page, whole or in part."""
    page = damaged[number * PAGE : (number + 1) * PAGE]
    return {n for n, row in before.items() if row[1].encode() in page or row[2].encode() in page}
