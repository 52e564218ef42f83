"""How drains replace the vectors of an earlier version, and that recall is blind to meaning at no moment.

Where many memories are embedded the table stands in for the built-in embedder, under the names of several versions: it
is quicker.
"""

import asyncio
import random
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.embed.base import Embedding, planes
from memman.embed.static import StaticTable, sign_code
from memman.model.records import Draft, Fact, Fingerprint, Usage
from memman.model.vocabulary import BUILTIN, JUDGE
from memman.pipeline.vectors import index
from memman.queue.notes import Queue
from memman.store.filters import Filters
from memman.store.sqlite import vectors
from memman.store.sqlite.store import SqliteStore, open_store
from memman.upkeep import backfill
from memman.upkeep.backfill import AT_ONCE, catch_up
from memman.upkeep.idle import UPGRADING, idle
from tests.support.memories import up_to_date

TABLE = StaticTable()
NOUNS = "harbour violin glacier pepper tractor lantern cathedral falcon marble orchard compass walnut".split()
MINILM = Fingerprint("minilm", "all-MiniLM-L6-v2", 384)


class Version:
    """One version of the built-in embedder."""

    def __init__(self, number):
        self.fingerprint = Fingerprint(BUILTIN, f"table-v{number}", TABLE.dimension)

    def vectors(self, texts):
        """Return those of the table."""
        return np.array([TABLE.vector(text) for text in texts], np.float32).reshape(len(texts), TABLE.dimension)

    async def embed(self, texts):
        """Embed `texts`, at no cost."""
        return Embedding(self.vectors(texts), Usage())

    async def close(self):
        """Hold nothing."""


OLD, NEW = Version(1), Version(2)


def add(store, by, count=1, session=0):
    """Store memories of one session as commit does; return the last one's row."""
    with store.unit() as unit:
        for _ in range(count):
            n = store.reader.last()
            text = f"The {NOUNS[n % len(NOUNS)]} of room {n} belongs to Ada."
            row = unit.add(Draft(f"{n:020x}", f"{n:032x}", Fact(text), "user", f"session-{session}", n), n)
            index(unit, by, store.cell, [row])
    return row


def caught_up(store, by, most=AT_ONCE):
    """Do a drain's part of an upgrade, up to `most` memories one by one; return whether some are left."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(backfill, "BATCH", 1)
        patched.setattr(backfill, "AT_ONCE", most)
        return asyncio.run(catch_up(["store"], lambda _: store, [by]))


def seen(store):
    """Assert that meaning finds every memory but the forgotten ones; return how many vectors are each version's."""
    code, near = sign_code(TABLE.vector("anything")), set()
    for number in store.reader.searched(TABLE.dimension):
        near |= {memory for memory, _ in store.reader.nearest(number, code, Filters(), 10_000)}
    assert near == {memory for (memory,) in store.db.execute("SELECT id FROM memory WHERE status <> 'forgotten'")}
    sql = "SELECT e.model, count(*) FROM embedder e JOIN vector v ON v.embedder = e.id GROUP BY 1"
    return dict(store.db.execute(sql))


def test_a_memory_has_one_vector_the_new_or_the_old(tmp_path):
    """Part by part the new ones take the place of the old; what is added meanwhile has a new one at once."""
    with closing(open_store(str(tmp_path), "default")) as store:
        add(store, OLD, 10)
        assert caught_up(store, NEW, 4)
        assert seen(store) == {"table-v1": 6, "table-v2": 4}
        add(store, NEW, session=1)
        assert seen(store) == {"table-v1": 6, "table-v2": 5}
        assert not caught_up(store, NEW)
        assert seen(store) == {"table-v2": 11}
        assert list(vectors.embedders(store.db)) == [NEW.fingerprint]
        changes = store.db.total_changes()
        assert not caught_up(store, NEW)
        assert store.db.total_changes() == changes


def test_two_versions_on_one_store_come_to_rest(tmp_path):
    """The older one makes vectors only of what it changes, the newer one those again, and then neither anything."""
    older, newer = Version(9), Version(10)
    with closing(open_store(str(tmp_path), "default")) as store:
        add(store, older, 5)
        add(store, older, 5, session=1)
        assert not caught_up(store, newer)
        add(store, older)
        assert not caught_up(store, older)
        assert seen(store) == {"table-v9": 3, "table-v10": 8}
        assert caught_up(store, newer, 2)
        assert seen(store) == {"table-v9": 1, "table-v10": 10}
        add(store, older, session=2)
        assert not caught_up(store, older)
        assert seen(store) == {"table-v9": 2, "table-v10": 10}
        assert not caught_up(store, newer)
        assert seen(store) == {"table-v10": 12}
        changes = store.db.total_changes()
        assert not caught_up(store, older)
        assert not caught_up(store, newer)
        assert store.db.total_changes() == changes
        assert list(vectors.embedders(store.db)) == [newer.fingerprint]


def test_an_older_version_takes_a_store_back_by_hand(tmp_path):
    """Who goes back for good embeds all memories anew, and the older version's drains care for the store again."""
    with closing(open_store(str(tmp_path), "default")) as store:
        add(store, NEW, 5)
        assert not caught_up(store, OLD)
        assert seen(store) == {"table-v2": 5}
        assert asyncio.run(backfill.fill(store, OLD)) == 5
        assert not caught_up(store, OLD)
        assert list(vectors.embedders(store.db)) == [OLD.fingerprint]


STEPS = st.lists(
    st.tuples(st.sampled_from("add forget restore supersede part all next back".split()), st.integers(0, 30))
)


@given(steps=STEPS)
def test_recall_is_never_blind(tmp_path_factory, steps):
    """Whatever happens in whatever order, by versions in turn, after each step every current memory is found."""
    with closing(open_store(str(tmp_path_factory.mktemp("store")), "default")) as store:
        version = newest = 1
        add(store, Version(version))
        for step, n in steps:
            row, made = 1 + n % store.reader.last(), Version(version)
            if step == "add":
                add(store, made, session=n % 2)
            elif step in {"next", "back"}:
                version = max(1, version + (1 if step == "next" else -1))
                newest = max(newest, version)
            elif step in {"part", "all"}:
                left = caught_up(store, made, 1 if step == "part" else 10_000)
                assert step == "part" or not left
            else:
                with store.unit() as unit:
                    if step == "supersede":
                        unit.supersede(row, store.reader.last(), 1, 1, "newer")
                    else:
                        (unit.forget if step == "forget" else unit.restore)(row, 1)
            seen(store)
        assert not caught_up(store, Version(newest), 10_000)
        assert seen(store) == {f"table-v{newest}": store.reader.last()}
        assert up_to_date(store, Version(newest))


LIVING = """
import sys
sys.path[:0] = sys.argv[2:]
from tests.unit.upkeep.test_backfill import Version, add, caught_up, vectors
from memman.store.sqlite.store import SqliteStore, open_store
store = open_store(sys.argv[1], "default")
print("ready", flush=True)
version = int([made.model for made in vectors.embedders(store.db)][-1].partition("-v")[2])
while True:
    made = Version(version)
    row = add(store, made, 3)
    caught_up(store, made, 2)
    with store.unit() as unit:
        unit.forget(row - 1, 1)
    while caught_up(store, made, 5):
        pass
    version += 1
"""


def test_a_kill_at_any_moment_loses_nothing(tmp_path):
    """A process that upgrades a store again and again is killed: what it leaves is all found, and goes on."""
    chance, mixed = random.Random(5), 0
    with closing(open_store(str(tmp_path), "default")) as store:
        add(store, OLD, 30)
    for kills in range(60):
        if kills >= 10 and mixed:
            break
        given_ = [sys.executable, "-c", LIVING, str(tmp_path), *sys.path]
        with subprocess.Popen(given_, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(chance.random() * 0.3)  # a kill at any moment, which no event tells
            process.kill()
        with closing(open_store(str(tmp_path), "default")) as store:
            counts = seen(store)
            assert sum(counts.values()) == store.reader.last()
            mixed += len(counts) > 1
    assert mixed


def test_a_drain_works_in_parts_store_after_store(tmp_path):
    """One drain embeds AT_ONCE memories; the next go on, past a damaged store, until nothing is left."""
    stores = {name: open_store(str(tmp_path), name) for name in ("one", "two")}
    for store in stores.values():
        add(store, OLD, AT_ONCE * 3 // 4)
    (tmp_path / "data" / "damaged").mkdir()
    (tmp_path / "data" / "damaged" / "memman.db").write_bytes(b"no database" * 1000)
    beats = []

    def opened(name):
        return stores.get(name) or open_store(str(tmp_path), name)

    for left in (True, False):
        done = catch_up(("damaged", "one", "two"), opened, [NEW], tick=lambda: beats.append(1))
        assert asyncio.run(done) == left
    assert len(beats) >= AT_ONCE * 3 // 2 // 64
    assert [seen(store) for store in stores.values()] == [{"table-v2": AT_ONCE * 3 // 4}] * 2
    for store in stores.values():
        store.close()


def test_what_a_withdrawn_provider_made_goes_and_what_others_made_stays(tmp_path):
    """Vectors of MiniLM are dropped; those of a provider that settings can name, and the judge's, are not touched."""
    with closing(open_store(str(tmp_path), "default")) as store:
        add(store, NEW, 5)
        remote, judged = Fingerprint("openai", "m", 8), Fingerprint(JUDGE, "j", 8)
        with store.unit() as unit:
            for made in (MINILM, remote, judged):
                row = planes(np.ones(made.dimension))
                unit.put_vectors(unit.embedder(made), [(n, 0, *row) for n in range(1, 6)])
        assert not caught_up(store, NEW)
        assert set(vectors.embedders(store.db)) == {NEW.fingerprint, remote, judged}
        assert store.db.execute("SELECT count(*) FROM vector").get == 15


# --- in a drain ---


OLDER = "minilm-l6-static-v1"
TEXTS = [
    "Ada prefers tabs over spaces.",
    "The nightly backup goes to a bucket in Frankfurt.",
    "Invoices are numbered per year.",
    "Kim reviews all migrations.",
    "The office cat sleeps on the router.",
]


def aged(box):
    """Make the store one that the version before this one has embedded, and MiniLM besides."""
    with closing(SqliteStore(str(box.store_path()))) as store:
        number = store.reader.searched(TABLE.dimension)[0]
        with store.unit() as unit:
            unit.db.execute("UPDATE embedder SET model = ? WHERE id = ?", (OLDER, number))
            rows = [
                (n, 0, *planes(np.array(TABLE.vector(text)))) for n, text in store.reader.texts(range(1, 9)).items()
            ]
            for maker in (number, unit.embedder(MINILM)):
                unit.put_vectors(maker, rows)


def test_an_upgrade_needs_no_command(box, monkeypatch):
    """Recall answers at once by words and the old vectors, idle drains make new ones part by part, old ones go."""
    monkeypatch.setattr(backfill, "BATCH", 1)
    monkeypatch.setattr(backfill, "AT_ONCE", 2)
    for n, text in enumerate(TEXTS):
        box.remember(text, session=f"s{n}")
    box.drain()
    while not idle(str(box.data)):
        box.drain()
    aged(box)
    with closing(Queue(str(box.data))) as queue:
        queue.set_meta("judged", "judge/of-before/256")
        queue.set_meta("last_drain", "")
    parts = []
    while not idle(str(box.data)):
        with closing(SqliteStore(str(box.store_path()))) as store:
            parts.append(seen(store).get(OLDER, 0))
        for question, word in (("who indents with tabs", "Ada"), ("where do nightly backups go", "Frankfurt")):
            (hit, *_) = box.hits(question)
            assert word in hit.row.text
            assert hit.cosine is not None
        if len(parts) == 2:
            box.remember("The standup is at half past nine.", session="new")
        box.drain()
    with closing(SqliteStore(str(box.store_path()))) as store:
        counts = seen(store)
        assert OLDER not in counts
        assert MINILM not in vectors.embedders(store.db)
        assert counts[f"{TABLE.model}-v{TABLE.version}"] == len(TEXTS) + 1
    assert parts[:2] == [5, 3]
    assert len(parts) >= 4
    assert "Frankfurt" in box.hits("which city holds the copies of our data")[0].row.text
    changes = box.store("SELECT count(*) FROM vector")
    box.drain()
    assert box.store("SELECT count(*) FROM vector") == changes


def test_a_drain_that_left_some_calls_the_next(box):
    """While an upgrade is under way a drain has something to do, though no note waits."""
    box.drain()
    assert idle(str(box.data))
    with closing(Queue(str(box.data))) as queue:
        queue.set_meta(UPGRADING, "1")
    assert not idle(str(box.data))
    box.drain()
    assert idle(str(box.data))
