import asyncio
import math
from contextlib import asynccontextmanager
from dataclasses import replace
from unittest import mock

import apsw
import pytest

from memman.config.env import Settings
from memman.drain.stores import Stores
from memman.model.records import Cause, Fact, Note, Provenance
from memman.model.uid import memory_uid
from memman.pipeline.commit import commit
from memman.pipeline.link import link, rarity
from memman.pipeline.plan import Plan
from memman.pipeline.weigh import weigh

MINUTE = 60_000
SUBJECTS = ("The nightly backup", "The billing service", "Our search index", "The mobile client", "The cache layer")
VERBS = ("writes to", "reads from", "was moved off", "depends on", "is tested against")
OBJECTS = ("Postgres", "the S3 bucket", "a Redis cluster", "the staging host", "Kafka", "the ledger", "GraphQL")


def sentence(n):
    """Make a different sentence for each number."""
    place = n // (len(SUBJECTS) * len(VERBS) * len(OBJECTS))
    return (
        f"{SUBJECTS[n % 5]} {VERBS[n // 5 % 5]} {OBJECTS[n // 25 % 7]}"
        + f" in region {place} since ticket {n}" * bool(place)
    )


@asynccontextmanager
async def shop(folder):
    """Open a store and its tools; the disk is not waited for."""
    stores = Stores.of(str(folder), Settings({}))
    store, tools = stores.equipped("default")
    store.db.execute("PRAGMA synchronous=OFF")
    try:
        yield store, tools
    finally:
        await stores.close()


async def planned(tools, number, facts, at=0, **provenance):
    """Take a note up to its links."""
    local = (await tools.local.embed([fact.text for fact in facts])).vectors
    note = Note(f"{number:032x}", "default", "", at, provenance=Provenance(**provenance))
    return await link(tools, Plan(note, tuple(facts), local=local, vectors=local))


async def stored(store, tools, number, facts, at=0, **provenance):
    """Store a note's facts by the real stages."""
    plan = await weigh(tools, await planned(tools, number, facts, at, **provenance))
    return await commit(replace(tools, store=store), plan)


def edges(store, kind):
    """Return the edges of a kind as {(src, dst): (weight, detail)}."""
    rows = store.db.execute("SELECT src, dst, weight, detail FROM edge WHERE kind = ?", (kind,))
    return {(src, dst): (weight, detail) for src, dst, weight, detail in rows}


def test_each_origin_has_its_own_backbone(tmp_path):
    """Memories of one session form one chain, however the sessions are interleaved."""

    async def run():
        async with shop(tmp_path) as (store, tools):
            for n in range(6):
                await stored(store, tools, n, [Fact(sentence(n))], n * 9 * 60 * MINUTE, agent="a", session=str(n % 2))
            return {pair for pair, (_, detail) in edges(store, "temporal").items() if detail == "next"}

    assert asyncio.run(run()) == {(1, 3), (3, 5), (2, 4), (4, 6)}


def test_facts_of_one_note_are_chained_in_order(tmp_path):
    """The facts of a note follow each other on the backbone."""

    async def run():
        async with shop(tmp_path) as (store, tools):
            await stored(store, tools, 1, [Fact(sentence(n)) for n in range(3)])
            return edges(store, "temporal")

    assert set(asyncio.run(run())) == {(1, 2), (2, 3)}


def test_nearness_counts_from_when_things_were_said(tmp_path):
    """A note queued long ago and drained late is near what was said then, not what was stored just before."""

    async def run():
        async with shop(tmp_path) as (store, tools):
            for n, at in enumerate((0, 100, 2)):
                await stored(store, tools, n, [Fact(sentence(n))], at * 60 * MINUTE, agent="a", session=str(n))
            return edges(store, "temporal")

    assert asyncio.run(run()) == {(1, 3): (pytest.approx(1 / 3, abs=1e-3), "near")}


def test_rare_names_weigh_more(tmp_path):
    """The weight of an entity edge falls with the number of memories that name the entity."""

    async def run():
        async with shop(tmp_path) as (store, tools):
            for n in range(20):
                names = ("common",) if n % 2 else ("common", "often") if n % 4 else ("common", "often", "rare")[: n + 2]
                await stored(store, tools, n, [Fact(sentence(n), entities=names)])
            plan = await planned(tools, 99, [Fact("x", entities=("common", "often", "rare", "unheard of"))])
            counts = dict(store.db.execute("SELECT value, count(*) FROM memory, json_each(entities) GROUP BY 1"))
            return {edge.detail: edge.weight for edge in plan.edges if edge.kind == "entity"}, counts

    weights, counts = asyncio.run(run())
    assert weights["rare"] > weights["often"] > weights.get("common", 0)
    for name, weight in weights.items():
        assert weight == pytest.approx(rarity(counts[name], 20))
    assert rarity(20, 20) == pytest.approx(0.05)
    assert math.isclose(rarity(1, 10**6), 1, abs_tol=0.05)


def test_causes_of_any_age_become_edges(tmp_path):
    """A cause among old memories is linked as it is named."""

    async def run():
        async with shop(tmp_path) as (store, tools):
            for n in range(30):
                await stored(store, tools, n, [Fact(sentence(n))])
            plan = await planned(tools, 99, [Fact("So we moved.")])
            plan = replace(plan, edges=(), causes=(Cause(memory_uid(f"{0:032x}", 0), 0, "causes", 0.9),))
            await commit(replace(tools, store=store), await weigh(tools, await link(tools, plan)))
            return edges(store, "causal")

    assert asyncio.run(run()) == {(1, 31): (0.9, "causes")}


def test_a_text_without_a_known_word_is_stored_and_never_linked_by_meaning(tmp_path):
    """A zero vector leaves a row, so that nobody embeds it again, and no sign code, so that nobody finds it."""

    async def run():
        async with shop(tmp_path) as (store, tools):
            await stored(store, tools, 1, [Fact("☃ ☃ ☃")])
            number = store.reader.embedder_id(tools.local.fingerprint)
            return (
                store.db.execute("SELECT count(*) FROM vector WHERE embedder = ?", (number,)).get,
                store.db.execute("SELECT count(*) FROM code WHERE embedder = ?", (number,)).get,
                store.reader.cosines(number, (2**384 - 1, 0, 0, 0), [1]),
            )

    assert asyncio.run(run()) == (1, 0, {})


def _inner(sql):
    """Whether the text index asks this itself: it never sets back the counter of a statement that it keeps."""
    return "fts_" in sql or sql.startswith("PRAGMA")


def _steps(event):
    return event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]


def steps_of_one_link(folder, memories):
    """Fill a store through link and commit, then count the VM steps of linking one more note, the mean of twenty."""
    spent = []

    async def run():
        async with shop(folder) as (store, tools):
            batch = 60
            for first in range(0, memories, batch):
                names = [(f"host{n % 7}", f"ticket{n % 11}", "memman") for n in range(first, first + batch)]
                facts = [Fact(sentence(first + k), entities=name) for k, name in enumerate(names)]
                await stored(store, tools, first, facts, first * MINUTE, agent="a", session=str(first % 5))
                with mock.patch.multiple("memman.store.sqlite.vectors", LEAST=150, ROWS=10):
                    store.maintain()
            facts = [Fact(sentence(7 * n), entities=("host3", "ticket5", "memman")) for n in range(20)]
            # A drain reads the partition once; what counts is what each note costs.
            await planned(tools, 10**6, facts)
            store.db.trace_v2(
                apsw.SQLITE_TRACE_PROFILE,
                lambda event: None if _inner(event["sql"]) else spent.append(_steps(event)),
            )
            plans = [await planned(tools, 10**6, [f], memories * MINUTE, agent="a", session="0") for f in facts]
            store.db.trace_v2(0, None)
            return {edge.kind for plan in plans for edge in plan.edges}

    return asyncio.run(run()), sum(spent) / 20


@pytest.mark.slow
def test_linking_reads_no_more_in_a_larger_store(tmp_path):
    """Ten times the memories cost less than a third more to link one more to."""
    few, small = steps_of_one_link(tmp_path / "small", 300)
    many, large = steps_of_one_link(tmp_path / "large", 3_000)
    assert few == many >= {"temporal", "entity", "semantic"}
    assert 0 < large <= 1.3 * small, (small, large)


def test_a_divided_store_finds_what_a_whole_one_finds(tmp_path):
    """The cells searched hold nearly all of the nearest memories, and every code is in its vector's cell."""

    async def run():
        async with shop(tmp_path) as (store, tools):
            texts = [sentence(n) for n in range(600)]
            await stored(store, tools, 1, [Fact(text) for text in texts])
            number = store.reader.embedder_id(tools.local.fingerprint)
            queries = (await tools.local.embed(texts[::20])).vectors
            before = [nearest(store, number, row) for row in queries]
            with mock.patch.multiple("memman.store.sqlite.vectors", LEAST=100, ROWS=20):
                store.maintain()
            after = [nearest(store, number, row) for row in queries]
            strays = "SELECT count(*) FROM code c JOIN vector v USING (embedder, memory) WHERE c.cell <> v.cell"
            cells = store.db.execute("SELECT count(*) FROM cell").get
            return before, after, store.db.execute(strays).get, cells

    before, after, strays, cells = asyncio.run(run())
    assert strays == 0
    assert cells == 2 * 30, "of the built-in vectors, and of the judge's"
    kept = sum(len(set(a) & set(b)) for a, b in zip(before, after, strict=True)) / sum(map(len, before))
    assert kept > 0.9


def nearest(store, number, row):
    """Return the ten memories nearest to a vector, as linking looks for them."""
    from memman.embed.static import sign_code
    from memman.pipeline.candidates import EVERYTHING

    cells = store.reader.cells_near(number, row)
    return [m for m, _ in store.reader.nearest(number, sign_code(row.tolist()), EVERYTHING, 10, cells)]
