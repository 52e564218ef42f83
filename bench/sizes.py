"""Stores of any number of memories, kept between runs: one grows through all sizes and is copied at each."""

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Sequence

from bench import bulk
from bench.machine import ROOT
from bench.recent import Recent
from bench.stores import upgrade
from memman.config.places import store_path
from memman.store.sqlite.store import open_store

# What decides a store's content; after a change to any of these, stores are built anew.
_SOURCES = (
    "memman/embed/static.db",
    "memman/embed/static.py",
    "memman/model/terms.py",
    "memman/store/sqlite/schema.py",
    "memman/store/sqlite/unit.py",
    "memman/store/sqlite/vectors.py",
    "bench/bulk.py",
    "bench/corpus.py",
    "bench/recent.py",
    "bench/words.py",
)


def build(folder: str, sizes: Sequence[int], say: Callable[[str], None], *, fresh: bool) -> dict[str, dict[str, float]]:
    """Make the stores that are not in `folder` yet, one growing through all sizes; return what is known of each."""
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    if not all(there(folder, size) for size in sizes):
        shutil.rmtree(f"{folder}/growing", ignore_errors=True)
        recent, first = Recent(), 0
        for size in sizes:
            say(f"building a store of {size:,} memories")
            first = _grow(folder, recent, first, size)
        shutil.rmtree(f"{folder}/growing")
    return known(folder, sizes)


def known(folder: str, sizes: Sequence[int]) -> dict[str, dict[str, float]]:
    """Return what is known of stores that are there already, upgraded as drains do. Raises FileNotFoundError."""
    found = {}
    for size in sizes:
        upgrade(f"{folder}/{size}")
        with open(_info(folder, size), encoding="ascii") as saved:
            found[str(size)] = json.load(saved)
    return found


def there(folder: str, size: int) -> bool:
    """Whether the store of `size` memories is there already."""
    return os.path.exists(_info(folder, size))


def place(folder: str, size: int, data: str) -> None:
    """Copy the store of `size` memories into the data folder `data`, as its default store."""
    target = store_path(data, "default")
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    shutil.copyfile(store_path(f"{folder}/{size}", "default"), target)
    os.chmod(target, 0o600)


def _grow(folder: str, recent: Recent, first: int, size: int) -> int:
    store = open_store(f"{folder}/growing", "default")
    began, before = time.perf_counter(), recent.count()
    first = bulk.fill(store, recent, first, size)
    seconds = time.perf_counter() - began
    store.close()
    target = store_path(f"{folder}/{size}", "default")
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    shutil.copyfile(store.path, target)
    os.chmod(target, 0o600)
    said = {"memories": recent.count(), "notes": first, "bytes": os.path.getsize(target), "seconds": round(seconds, 1)}
    with open(_info(folder, size), "w", encoding="ascii") as out:
        json.dump(said | {"memories_per_second": round((recent.count() - before) / seconds)}, out)
    return first


def _info(folder: str, size: int) -> str:
    return f"{folder}/{size}/info.json"


def version() -> str:
    """Name what decides the content of stores."""
    digest = hashlib.blake2b(digest_size=6)
    for name in _SOURCES:
        with open(f"{ROOT}/{name}", "rb") as source:
            digest.update(source.read())
    return digest.hexdigest()
