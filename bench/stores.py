"""Stores of any size, written by the product's own stages; many notes a transaction makes it quick."""

import asyncio
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

from bench import corpus
from bench.machine import ROOT
from memman.config.places import store_path
from memman.embed.builtin import BuiltinEmbedder
from memman.llm.builtin import BuiltinLLM
from memman.model.records import Note, Provenance
from memman.pipeline.commit import commit
from memman.pipeline.embed import embed
from memman.pipeline.enrich import enrich
from memman.pipeline.extract import extract
from memman.pipeline.link import link
from memman.pipeline.plan import Plan, Tools
from memman.queue.entry import new_uid
from memman.store.protocols import Reader, Store, Unit
from memman.store.sqlite.screened import due
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.screen import screen

# Notes a transaction, and between two rounds of the maintenance that every drain does.
BATCH = 500
# The first note was made in November 2023, one every ten minutes since.
_BEGAN_MS = 1_700_000_000_000
_STEP_MS = 600_000
# What a store depends on most; for changes elsewhere there is --fresh.
_SOURCES = (
    "memman/embed/static.db",
    "memman/embed/codes.py",
    "memman/model/terms.py",
    "memman/store/sqlite/schema.py",
    "memman/store/sqlite/unit.py",
    "memman/store/sqlite/partition.py",
    "bench/words.py",
    "bench/corpus.py",
)


class Joined:
    """A store whose transaction is open already: what commits to it joins in."""

    def __init__(self, store: SqliteStore, unit: Unit) -> None:
        self.reader: Reader = store.reader
        self.cell = store.cell
        self._unit = unit

    @contextmanager
    def unit(self) -> Iterator[Unit]:
        """Hand out the open transaction."""
        yield self._unit


def note(n: int, sample: corpus.Sample) -> Note:
    """Make note number `n` as the queue would give it to the drain."""
    at = _BEGAN_MS + n * _STEP_MS
    return Note(new_uid(at), "default", sample.text, at, provenance=Provenance("agent", "claude-code", sample.session))


async def fill(store: SqliteStore, first: int, memories: int) -> int:
    """Append notes, from number `first`, until `store` holds `memories`; return the number of the next one.

    Every stage runs but reconcile: no note supersedes another here, so that the
    size is the size asked for.
    """
    local = BuiltinEmbedder()
    builtin = BuiltinLLM(None)
    while (left := memories - store.reader.count()) > 0:
        samples = list(corpus.notes(first, min(BATCH, max(1, left * 3 // 4))))
        with store.unit() as unit:
            joined: Store = Joined(store, unit)
            for sample in samples:
                made = note(first, sample)
                first += 1
                tools = Tools(builtin, builtin, local, local, store.reader, lambda at=made.queued_at: at, store=joined)
                await _through(tools, Plan(made))
        store.maintain()
    await local.close()
    return first


async def _through(tools: Tools, plan: Plan) -> None:
    plan = await extract(tools, plan)
    if plan.facts:
        plan = replace(plan, local=(await tools.local.embed([fact.text for fact in plan.facts])).vectors)
    for stage in (enrich, embed, link, commit):
        plan = await stage(tools, plan)


def build(work: str, sizes: Sequence[int]) -> dict[int, dict[str, float]]:
    """Make a store of each size, or find those made before; return what is known about each.

    One store grows through all sizes and is copied at each.
    """
    if any(_info(work, size) is None for size in sizes):
        _grow(work, sorted(sizes))
    return {size: _info(work, size) or {} for size in sizes}


def known(work: str, size: int) -> bool:
    """Whether the store of `size` memories is there already."""
    return _info(work, size) is not None


def kept(work: str, size: int) -> str:
    """Return the folder of the store of `size` memories."""
    return f"{work}/stores/{_version()}/{size}"


def upgrade(folder: str) -> None:
    """Do what idle drains do after an upgrade of the rules for secrets; a store just built leaves nothing to do."""
    if due(store_path(folder, "default")):
        store = SqliteStore.open(folder, "default")
        while asyncio.run(screen(("default",), lambda name: store, lambda: False, lambda: None))[0]:  # noqa: ARG005
            pass
        store.close()


def place(work: str, size: int, data: str) -> None:
    """Copy the store of `size` memories into the data folder `data`, as its default store."""
    target = store_path(data, "default")
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    shutil.copyfile(kept(work, size) + "/memman.db", target)
    os.chmod(target, 0o600)
    upgrade(data)


def _grow(work: str, sizes: Sequence[int]) -> None:
    shutil.rmtree(work + "/stores", ignore_errors=True)
    growing = kept(work, 0)
    first, seconds = 0, 0.0
    for size in sizes:
        store = SqliteStore.open(growing, "default")
        began, before = time.perf_counter(), store.reader.count()
        first = asyncio.run(fill(store, first, size))
        taken = time.perf_counter() - began
        seconds += taken
        memories = store.reader.count()
        _check(store)
        store.close()
        _keep(store.path, kept(work, size), {
            "memories": memories,
            "notes": first,
            "bytes": os.path.getsize(store.path),
            "seconds": round(seconds, 1),
            "memories_per_second": round((memories - before) / taken, 1),
        })  # fmt: skip
    shutil.rmtree(growing)


def _check(store: SqliteStore) -> None:
    """Refuse a store that is not what recall meets in the field: a figure from it would flatter."""
    counts = {
        name: store.db.execute(f"SELECT count(*) FROM {name}").get for name in ("memory", "vector", "code", "edge")
    }
    if not counts["memory"] == counts["vector"] == counts["code"] <= counts["edge"]:
        raise RuntimeError(f"the stages no longer fill a store as they should: {counts}")


def _keep(path: str, folder: str, info: Mapping[str, float]) -> None:
    os.makedirs(folder)
    shutil.copyfile(path, folder + "/memman.db")
    with open(folder + "/info.json", "w", encoding="ascii") as out:
        json.dump(info, out)


def _info(work: str, size: int) -> dict[str, float] | None:
    try:
        with open(kept(work, size) + "/info.json", encoding="ascii") as saved:
            found: dict[str, float] = json.load(saved)
            return found
    except FileNotFoundError:
        return None


@cache
def _version() -> str:
    """Name what decides a store's content: after a change to any of these files, stores are built anew."""
    digest = hashlib.blake2b(digest_size=6)
    for name in _SOURCES:
        with open(f"{ROOT}/{name}", "rb") as source:
            digest.update(source.read())
    return digest.hexdigest()
