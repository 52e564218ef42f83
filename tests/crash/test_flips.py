"""One byte of a file changed behind memman's back: no wrong answer goes unsaid, and what is off that page is saved."""

import random
import shutil
from contextlib import closing

import pytest

from memman.hot.recall import found
from memman.model.errors import MemmanError
from memman.queue.notes import Queue
from memman.recovery.check import troubles
from memman.recovery.repair import repair, repair_queue
from memman.store.filters import Filters
from memman.store.sqlite.schema import STEPS as STORE
from memman.store.sqlite.store import SqliteStore

MEMORIES = 300
PAGE = 4096
QUESTIONS = (
    "Which port does service 17 listen on?",
    "What caches the invoices of customer 200?",
    "Who keeps the deploys of team 41?",
    "Why was queue 33 slow?",
)
ROWS = "SELECT uid, text FROM memory"


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
    """Give a box with a store of some hundred memories, all in its one file, and that file's bytes."""
    made = tmp_path_factory.getbasetemp() / "sound.db"
    if not made.exists():  # once for all tests
        for n in range(MEMORIES):
            box.remember(sentence(n), session=f"session-{n // 6}")
        box.drain()
        box.memman("forget", box.store("SELECT uid FROM memory WHERE id = 5")[0])
        SqliteStore(str(box.store_path())).close()
        shutil.copy(box.store_path(), made)
    box.store_path().parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    spoil(box.store_path(), made.read_bytes(), 0, 0)
    return box, made.read_bytes()


def spoil(path, content, place, bit):
    """Give a database this content, but for one byte, and no log."""
    for one in path.parent.glob(path.name + "*"):
        one.unlink()
    path.write_bytes(content[:place] + bytes([content[place] ^ bit]) + content[place + 1 :])
    path.chmod(0o600)


def answers(box, capsys):
    """Return what recall shows for each question, or that it says the store is damaged."""
    try:
        shown = [found(str(box.data), "default", question, Filters(), 5, None) for question in QUESTIONS]
    except MemmanError:
        return "said"
    hits = [(hit.row.uid, hit.row.text, hit.row.status) for hits in shown for hit in hits]
    return "said" if "damaged" in capsys.readouterr().err else hits


def wrong(path):
    """Return what doctor's check says of a store."""
    try:
        return troubles(str(path), STORE)
    except MemmanError as error:
        return str(error)


@pytest.mark.slow
@pytest.mark.promise("R15")
def test_no_flipped_byte_makes_a_wrong_answer_unsaid(sound, rounds, kept, capsys):
    """Wherever one byte is changed, recall answers as before, or recall or doctor says that something is damaged.

    An answer that is wrong where doctor alone would tell of it counts as noticed.
    """
    (box, content), chance = sound, random.Random(15)
    right = answers(box, capsys)
    flips, silent, told = rounds(25, 500), [], 0
    for _ in range(flips):
        place, bit = chance.randrange(len(content)), 1 << chance.randrange(8)
        spoil(box.store_path(), content, place, bit)
        now = answers(box, capsys)
        said = now == "said" or bool(wrong(box.store_path()))
        told += said
        if not said and now != right:
            silent.append((place, bit, now))
    assert silent == []
    assert told > flips // 2
    kept(f"{flips} byte flips: {told} noticed, {flips - told} changed nothing, {len(silent)} silent wrong answers")


@pytest.mark.promise("R15")
def test_after_a_flipped_byte_repair_keeps_the_notes_that_can_be_read(box, rounds, kept):
    """Wherever one byte of the queue is changed, all notes but a few on its page wait on after `repair --queue`."""
    chance = random.Random(17)
    asked = {box.remember(sentence(n) + " é" * (n % 3)) for n in range(40)}
    Queue(str(box.data)).close()
    content = box.queue_path.read_bytes()
    flips, told, left = rounds(40, 2_000), 0, 0
    for _ in range(flips):
        place, bit = chance.randrange(len(content)), 1 << chance.randrange(8)
        spoil(box.queue_path, content, place, bit)
        told += bool(repair_queue(str(box.data)).wrong)
        with closing(Queue(str(box.data))) as queue:
            left += len(asked & {note.uid for note in iter(queue.claim, None)})
    assert told
    assert left >= 0.98 * flips * len(asked)
    kept(f"{flips} byte flips in the queue: {told} noticed, {left} of {flips * len(asked)} notes kept")


@pytest.mark.slow
@pytest.mark.promise("R15")
def test_repair_saves_what_is_off_the_damaged_page(sound, rounds, kept):
    """After flipped bytes `repair` keeps nearly every row of other pages, the original lies beside, and all works."""
    (box, content), chance = sound, random.Random(16)
    before, notes = {row[0]: row for row in box.store(ROWS)}, set(box.store("SELECT note FROM receipt"))
    repaired, off, saved, wanted = 0, 0, 0, rounds(5, 500)
    while repaired < wanted:
        place = chance.randrange(len(content)) if repaired else chance.randrange(100)
        spoil(box.store_path(), content, place, 1 << chance.randrange(8))
        damaged = box.store_path().read_bytes()
        done = repair(str(box.data), "default")
        if not done.wrong:
            continue
        repaired += 1
        with open(done.aside, "rb") as file:
            assert file.read() == damaged
        after = {row[0]: row for row in box.store(ROWS)}
        assert after.items() <= before.items()
        page = damaged[place // PAGE * PAGE :][:PAGE]
        others = {n for n, row in before.items() if row[0].encode() not in page and row[1].encode() not in page}
        off += len(others)
        saved += len(others & after.keys())
        assert not wrong(box.store_path())
        receipts = set(box.store("SELECT note FROM receipt"))
        assert set(box.store("SELECT note FROM memory")) <= receipts
        assert len(receipts - notes) <= 1
        assert not after or found(str(box.data), "default", QUESTIONS[0], Filters(), 5, None)
    assert saved / off >= 0.99
    kept(f"{repaired} repairs: {saved} of {off} rows off the damaged page kept, originals kept")
