import asyncio
import json
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager

import pytest

from memman.commands import embed as embedding
from memman.commands.place import Place
from memman.commands.printing import unseen
from memman.commands.store import Stakes, removed
from memman.config import stores
from memman.config.env import Settings, change, change_all, env_path
from memman.config.places import read_file
from memman.hot.recall import found
from memman.judge.embedder import BuiltinEmbedder
from memman.locks import drain_lock
from memman.model.errors import BadConfig, BudgetSpent, Busy, ProviderUnavailable, UnknownStore, UsageError
from memman.model.records import Draft, Fact, Fingerprint
from memman.pipeline.vectors import embed_in_context, made_by
from memman.providers.pool import Providers
from memman.store.filters import Filters
from memman.store.sqlite import words
from memman.store.sqlite.store import open_store
from tests.support.providers import OK, ScriptedProvider, status

NAMES = ("alpha", "beta", "gamma")
EACH = 90
QUERY = "who prefers tabs"
TABLE = BuiltinEmbedder().fingerprint


def filled(data, name, count=EACH, text="Host {n} keeps its backups in bucket {n} of {name}."):
    """Make a store of memories without any vectors."""
    store = open_store(data, name)
    with store.unit() as unit:
        for n in range(count):
            fact = Fact("Ada prefers tabs over spaces." if n == count // 2 else text.format(n=n, name=name))
            unit.add(Draft(f"{n:020x}", f"{n:032x}", fact, "user", "o", n), n)
        words.index(unit.db, range(1, count + 1))
    store.close()


@pytest.fixture
def data(tmp_path):
    """Return a data folder with three stores, their built-in vectors made."""
    folder = str(tmp_path)
    for name in NAMES:
        filled(folder, name)
        assert reembed(folder, name) == EACH
    change(folder, "MEMMAN_HTTP_TRIES", "1")
    return folder


@pytest.fixture
def provider():
    """Serve embeddings on loopback."""
    with ScriptedProvider() as serving:
        yield serving


def status_of(data, name):
    """Return what `embed status` tells of a store."""
    return embedding.status(Place(data, name, ""))


def reembed(data, name, progress=unseen):
    """Make what lacks of a store's vectors; return how many."""
    return embedding.reembed(Place(data, name, ""), progress=progress)["embedded"]


def target(provider, model="new", **said):
    """Name an embedder that the scripted server plays."""
    return {"provider": "openai", "model": model, "endpoint": provider.url + "/v1", **said}


def held(data, name="alpha"):
    """Return {fingerprint: vectors} of a store."""
    told = status_of(data, name)
    rows = [told["builtin"], told["configured"], *told["others"]]
    return {row["fingerprint"]: row["vectors"] for row in rows if row["vectors"]}


def recalls(data):
    """Whether recall finds what it should in every store, by words and by meaning."""
    for name in NAMES:
        hit = found(data, name, QUERY, Filters(), 3, None)[0]
        if "Ada prefers tabs" not in hit.row.text or hit.cosine is None:
            return False
    return True


def tables(data, name="alpha"):
    """Return how many rows each table of vectors has."""
    store = open_store(data, name)
    counts = {t: store.db.execute(f"SELECT count(*) FROM {t}").get for t in ("vector", "code", "cell", "embedder")}
    store.close()
    return counts


def test_reembed_fills_only_what_is_missing(data):
    """Every memory gets one built-in vector, and a second run has nothing to do."""
    assert held(data) == {str(TABLE): EACH}
    assert reembed(data, "alpha") == 0
    assert tables(data) == {"vector": EACH, "code": EACH, "cell": 0, "embedder": 1}


def test_status_names_what_is_missing(tmp_path, provider):
    """Status counts vectors and gaps of both embedders, and asks no provider."""
    filled(str(tmp_path), "alpha", 5)
    change(str(tmp_path), "MEMMAN_EMBED_PROVIDER", "ollama")
    change(str(tmp_path), "MEMMAN_EMBED_ENDPOINT", provider.url)
    told = status_of(str(tmp_path), "alpha")
    assert told["memories"] == 5
    assert told["builtin"] == {"fingerprint": str(TABLE), "vectors": 0, "missing": 5}
    assert told["configured"]["missing"] == 5
    assert not provider.calls


def test_reembed_makes_both_kinds_of_vectors(tmp_path, provider):
    """With an embedder configured a memory gets its vector beside the built-in one; forgotten text is not sent."""
    data = str(tmp_path)
    filled(data, "alpha", 70)
    store = open_store(data, "alpha")
    with store.unit() as unit:
        unit.forget(3, 1)
    store.close()
    change_all(data, {"embed.provider": "openai", "embed.endpoint": provider.url + "/v1", "embed.model": "m"})
    seen = []
    assert reembed(data, "alpha", lambda done, total: seen.append((done, total))) == 70 + 69
    assert held(data) == {str(TABLE): 69, "openai/m/64": 69}
    assert seen[-1] == (139, 139)
    sent = [text for received in provider.received for text in received.body["input"]]
    assert "Host 2 keeps its backups in bucket 2 of alpha." not in sent
    store = open_store(data, "alpha")
    assert store.db.execute("SELECT count(*) FROM code WHERE memory = 3 AND cell >= 0").get == 0
    with store.unit() as unit:
        assert unit.restore(3, 2)
    assert store.db.execute("SELECT count(*) FROM code WHERE memory = 3 AND cell >= 0").get == 1
    store.close()
    assert reembed(data, "alpha", lambda done, total: seen.append((done, total))) == 1 + 5
    assert seen[-1] == (6, 6)  # those around it, too


def test_a_failing_provider_keeps_what_was_done(tmp_path):
    """A provider that goes away ends reembed with its error; what was done stays, and the next run does the rest."""
    data = str(tmp_path)
    filled(data, "alpha", 150)
    # Calls: one for the dimension, one for each 64 texts; the third is the one that fails.
    with ScriptedProvider(script=[OK, OK, status(503)]) as provider:
        change_all(data, {"embed.provider": "openai", "embed.endpoint": provider.url + "/v1", "embed.model": "m"})
        change(data, "MEMMAN_HTTP_TRIES", "1")
        with pytest.raises(ProviderUnavailable):
            reembed(data, "alpha")
        assert held(data)["openai/m/64"] == 64
        assert reembed(data, "alpha") == 150 - 64


def test_the_budget_holds_and_the_ledger_knows(data, provider):
    """A spent budget ends a swap, which resumes when there is money again; every call is in the ledger."""
    from memman.queue.ledger import Ledger
    from memman.queue.notes import Queue

    change(data, "MEMMAN_BUDGET_TOKENS", "700")
    with pytest.raises(BudgetSpent):
        embedding.swap(data, target(provider))
    assert Settings.load(data)["MEMMAN_EMBED_PROVIDER"] == "builtin"
    change(data, "MEMMAN_BUDGET_TOKENS", None)
    embedding.swap(data, target(provider))
    queue = Queue(data)
    assert sum(row["calls"] for row in Ledger(queue.db).days(9)) == provider.calls.total()
    queue.close()


def test_a_swap_takes_every_store_along(data, provider):
    """After a swap the new embedder is in force, every store has its vectors, and the built-in ones are all there."""
    seen = []
    done = embedding.swap(data, target(provider), lambda done, total: seen.append((done, total)))
    assert "openai/new/64" in done
    assert seen[-1] == (3 * EACH, 3 * EACH)
    for name in NAMES:
        assert held(data, name) == {str(TABLE): EACH, "openai/new/64": EACH}
    settings = Settings.load(data)
    assert [settings[f"MEMMAN_EMBED_{key}"] for key in ("PROVIDER", "MODEL", "DIMENSION")] == ["openai", "new", "64"]
    store = open_store(data, "alpha")
    store.close()


def test_a_swap_passes_over_a_text_that_the_embedder_cannot_take(data):
    """Every other memory gets its vector, and the one that lacks it is counted."""
    script = lambda got: status(500) if "bucket 7 of alpha" in str(got.body["input"]) else OK  # noqa: E731 - one line
    with ScriptedProvider(script=script) as provider:
        embedding.swap(data, target(provider))
        assert held(data) == {str(TABLE): EACH, "openai/new/64": EACH - 1}
        assert status_of(data, "alpha")["configured"]["missing"] == 1


def test_a_swap_of_one_store_leaves_the_others_alone(data, provider):
    """With a store named, its vectors and its settings change, and nobody else's; a swap of all passes it over then."""
    embedding.swap(data, target(provider, store="alpha"))
    assert held(data) == {str(TABLE): EACH, "openai/new/64": EACH}
    assert status_of(data, "alpha")["configured"]["missing"] == 0
    for name in ("beta", "gamma"):
        assert held(data, name) == {str(TABLE): EACH}
        assert status_of(data, name)["configured"]["fingerprint"] == str(TABLE)
    assert read_file(env_path(data)) == "MEMMAN_HTTP_TRIES=1\n"
    embedding.swap(data, target(provider, "other"))
    assert held(data)["openai/new/64"] == EACH
    assert held(data, "beta") == {str(TABLE): EACH, "openai/other/64": EACH}
    embedding.swap(data, {"provider": "builtin", "store": "alpha"})
    assert held(data) == {str(TABLE): EACH}
    assert held(data, "beta") == {str(TABLE): EACH, "openai/other/64": EACH}


def test_a_store_has_an_embedder_and_a_key_of_its_own(box):
    """Of two stores the drain sends one's texts to its own provider with its own key, and the other's nowhere."""
    with ScriptedProvider() as own:
        for store in ("default", "work"):
            box.remember("The heron nests at the river.", store=store)
        box.drain()
        change(str(box.data), "MEMMAN_EMBED_API_KEY", "key-of-all")
        for name, value in (("PROVIDER", "openai"), ("ENDPOINT", own.url + "/v1"), ("API_KEY", "key-of-work")):
            change(str(box.data), f"MEMMAN_EMBED_{name}", value, "work")
        for store in ("default", "work"):
            box.remember("The egret breeds in the reeds.", store=store)
        box.drain()
        assert [asked.headers["authorization"] for asked in own.received] == ["Bearer key-of-work"]
        assert held(str(box.data), "work") == {str(TABLE): 2, "openai/text-embedding-3-small/64": 1}
        assert held(str(box.data), "default") == {str(TABLE): 2}
        change(str(box.data), "MEMMAN_EMBED_API_KEY", None, "work")
        assert Settings.load(str(box.data), "work")["MEMMAN_EMBED_API_KEY"] == ""
        assert box.memman("config", "get", "--store", "work", "embed.provider").stdout == "openai\n"
        assert box.memman("config", "get", "embed.provider").stdout == "builtin\n"
        with pytest.raises(BadConfig, match="applies to all stores"):
            change(str(box.data), "MEMMAN_LLM_API_KEY", "k", "work")
        moved = removed(str(box.data), Stakes.of(str(box.data), "work"))
        assert not os.path.exists(env_path(str(box.data), "work"))
        assert "MEMMAN_EMBED_PROVIDER=openai" in read_file(moved + "/env")


def test_a_second_swap_drops_the_first_ones_vectors(data, provider):
    """Vectors that nobody uses go; back at the built-in embedder, only its own are left."""
    embedding.swap(data, target(provider, "one"))
    embedding.swap(data, target(provider, "two"))
    assert held(data) == {str(TABLE): EACH, "openai/two/64": EACH}
    assert tables(data)["vector"] == 2 * EACH
    embedding.swap(data, {"provider": "builtin"})
    assert tables(data) == {"vector": EACH, "code": EACH, "cell": 0, "embedder": 1}
    assert Settings.load(data).said.keys() == {"MEMMAN_HTTP_TRIES", "MEMMAN_EMBED_PROVIDER"}


def test_a_failed_swap_changes_nothing_in_force_and_goes_on_or_is_given_up(data, provider):
    """While it is unfinished the old embedder is in force; the same again goes on, and a reembed drops what it left."""
    embedding.swap(data, target(provider, "old"))
    before = {name: tables(data, name) for name in NAMES}
    env = read_file(env_path(data))
    with ScriptedProvider(script=[OK, OK, OK, OK, status(503)]) as shaky:
        with pytest.raises(ProviderUnavailable):
            embedding.swap(data, target(shaky))
        told = status_of(data, "alpha")
        assert told["configured"] == {"fingerprint": "openai/old/64", "vectors": EACH, "missing": 0}
        assert told["others"] == [{"fingerprint": "openai/new/64", "vectors": EACH, "missing": 0}]
        assert (recalls(data), read_file(env_path(data))) == (True, env)
        for name in NAMES:
            reembed(data, name)
        assert {name: tables(data, name) for name in NAMES} == before
    with ScriptedProvider(script=[OK, OK, OK, status(503)]) as shaky, pytest.raises(ProviderUnavailable):
        embedding.swap(data, target(shaky))
    assert f"{2 * EACH} vectors created" in embedding.swap(data, target(provider))
    assert held(data) == {str(TABLE): EACH, "openai/new/64": EACH}


def test_a_swap_killed_before_it_tidied_up_is_tidied_by_a_reembed(data, provider, monkeypatch):
    """The new embedder is in force by then, so the same again says so."""
    embedding.swap(data, target(provider, "old"))

    def cut(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(embedding, "_keep_only", cut)
        with pytest.raises(KeyboardInterrupt):
            embedding.swap(data, target(provider))
    with pytest.raises(UsageError, match="already in use"):
        embedding.swap(data, target(provider) | {"dimension": 64})
    reembed(data, "alpha")
    assert held(data) == {str(TABLE): EACH, "openai/new/64": EACH}


def test_what_makes_no_sense_is_refused(data, provider):
    """Bad targets, what is in force already, and a drain at work are errors that change nothing."""
    for ask in (status_of, reembed):
        with pytest.raises(UnknownStore):
            ask(data, "nowhere")
    with pytest.raises(UsageError, match="already in use"):
        embedding.swap(data, {"provider": "builtin"})
    with pytest.raises(BadConfig):
        embedding.swap(data, {"provider": "nobody"})
    with drain_lock(data), pytest.raises(Busy):
        embedding.swap(data, target(provider))
    assert stores.names(data) == sorted(NAMES)


SWAP = """
import json, sys
import memman.http
from memman.commands import embed as embedding
data, target = sys.argv[1], json.loads(sys.argv[2])
print("ready", flush=True)
embedding.swap(data, target)
"""


def swapped(data, said, patience):
    """Swap in a process killed after `patience` seconds; return how long it took, None if killed.

    The clock runs from when the swap begins, however long Python took to start.
    """
    given = [sys.executable, "-c", SWAP, data, json.dumps(said)]
    with subprocess.Popen(given, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout.readline() == b"ready\n"
        started = time.monotonic()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            return None
    assert process.returncode == 0
    return time.monotonic() - started


@contextmanager
def watched(data):
    """Recall all the while from another thread."""
    failures, over = [], threading.Event()

    def watch():
        while not over.wait(0.02):
            if not recalls(data):
                failures.append(time.monotonic())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
    assert not failures


@pytest.mark.slow
def test_a_swap_killed_at_any_moment_can_go_on(data):
    """Ten kills and more: recall works after each and all the while, and the swap completes with nothing lost."""
    chance = random.Random(7)
    kills = unfinished = 0
    with ScriptedProvider(latency=0.03) as provider, watched(data):
        whole = swapped(data, target(provider, "m0"), 30)
        for number in range(1, 60):
            if kills >= 10 and unfinished >= 3:
                break
            if swapped(data, target(provider, f"m{number}"), chance.random() * whole) is None:
                kills += 1
                unfinished += Settings.load(data)["MEMMAN_EMBED_MODEL"] != f"m{number}"
            assert recalls(data)
            told = status_of(data, "beta")
            assert (told["builtin"]["missing"], told["configured"]["missing"]) == (0, 0)
        embedding.swap(data, target(provider, "last"))
    assert kills >= 10
    assert unfinished >= 3
    for name in NAMES:
        assert held(data, name) == {str(TABLE): EACH, "openai/last/64": EACH}
        assert tables(data, name)["vector"] == 2 * EACH


def test_a_swap_in_the_middle_of_an_upgrade_blinds_nobody(data, provider):
    """What an earlier version of the built-in embedder made is left to drains; the way back makes what is missing."""
    with closing(open_store(data, "alpha")) as store, store.unit() as unit:
        unit.db.execute("UPDATE embedder SET model = 'older-v0'")
        embed_in_context(unit, BuiltinEmbedder(), store.cell, range(1, 31))
    older = {str(TABLE): 30, "builtin/older-v0/384": EACH - 30}
    embedding.swap(data, target(provider))
    assert held(data) == {**older, "openai/new/64": EACH}
    assert recalls(data)
    embedding.swap(data, {"provider": "builtin"})
    assert held(data) == {str(TABLE): EACH}


def test_a_drain_renews_the_stores_it_touches(tmp_path, monkeypatch):
    """The maintenance at the end of a drain fills in the built-in vectors of what was there before."""
    from memman.drain.run import drain
    from memman.queue.append import append

    data = str(tmp_path)
    monkeypatch.setenv("MEMMAN_DATA_DIR", data)
    monkeypatch.setenv("MEMMAN_DRAIN", "off")
    filled(data, "alpha", 20)
    note = dict.fromkeys(("category", "importance"))
    note |= dict.fromkeys(
        ("entities", "replaces", "agent", "session", "cwd", "repository", "commit", "revision", "host", "user"), ""
    )
    append(data, note | {"store": "alpha", "text": "Grace prefers spaces.", "source": "user"})
    assert drain().done == 1
    assert held(data) == {str(TABLE): 21}


def test_journaled_vectors_keep_their_dimension():
    """A dimension that the embedder has not learned yet is read off the vectors themselves."""

    class Fresh:
        fingerprint = Fingerprint("openai", "m", 0)

    vectors = asyncio.run(BuiltinEmbedder().embed(["a word"])).vectors
    assert made_by(Fresh(), vectors) == Fingerprint("openai", "m", 384)


def test_several_keys_change_in_one_write(tmp_path):
    """Keys change together or not at all; comments, order and other lines stay."""
    data = str(tmp_path)
    change(data, "MEMMAN_EMBED_MODEL", "a")
    with open(env_path(data), "a", encoding="utf-8") as file:
        file.write("# mine\nMEMMAN_EMBED_DIMENSION=64\nOTHER=1\n")
    change_all(data, {"embed.model": "b", "embed.dimension": None, "embed.provider": "ollama"})
    assert read_file(env_path(data)).splitlines() == [
        "MEMMAN_EMBED_MODEL=b", "# mine", "OTHER=1", "MEMMAN_EMBED_PROVIDER=ollama",
    ]  # fmt: skip
    before = read_file(env_path(data))
    with pytest.raises(BadConfig):
        change_all(data, {"embed.model": "c", "embed.dimension": "no number"})
    assert read_file(env_path(data)) == before


def test_providers_can_name_a_target_without_asking(data, provider):
    """Looking at a swap's target costs no call."""
    shop = Providers(data, Settings.load(data))
    assert str(shop.local().fingerprint) == str(TABLE)
    assert not provider.calls
    asyncio.run(shop.close())
