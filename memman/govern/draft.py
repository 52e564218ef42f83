"""A store of a backup made ready to take its place."""

import os
import shutil
from contextlib import closing, suppress
from dataclasses import dataclass

from memman.backup.copy import fill
from memman.backup.manifest import Part
from memman.clock import now_ms
from memman.compose import builtin_embedder
from memman.config.places import make_folder
from memman.govern.present import Present, carry
from memman.govern.purge import erase
from memman.govern.tombstones import Tombstones
from memman.pipeline import context
from memman.sqlite import Guard, open_reader
from memman.store.sqlite.store import SqliteStore

_DRAFT = ".restoring-"


@dataclass(frozen=True, slots=True)
class Draft:
    """A store made ready to take its place: in `folder`, to be called `name`, copied from that of `part`."""

    part: Part
    name: str
    folder: str
    receipts: frozenset[str]
    present: Present
    memories: int
    forgotten: int
    purged: int


def made(data: str, folder: str, part: Part, name: str) -> Draft:
    """Make a store ready; what was purged or forgotten since the backup goes before anybody can find it.

    Notes of which something was forgotten come along as they are now: they may have waited then, and no backup that is
    restored later may bring them back either.
    """
    place = f"{data}/removed/{_DRAFT}{name}"
    path, present = f"{place}/memman.db", Present.of(data, part.store)
    with Guard(path):
        make_folder(place)
    source = f"{folder}/{part.file}"
    with Guard(source), closing(open_reader(source)) as db:
        fill(path, db, "WAL")
    with Guard(path), closing(SqliteStore(path)) as store, builtin_embedder() as local:
        purged = _purged(store, Tombstones.load(data))
        rows = store.reader.located(present.forgotten)
        with store.unit() as unit:
            erase(store, unit, local, purged)
            forgotten = context.forget(unit, local, store.cell, sorted(rows - set(purged)), now_ms())
            # Beside a store that goes by another name, its own keeps what it knows.
            carried = carry(store, unit, local, present) if name == part.store else 0
        if purged:
            store.db.execute("VACUUM")
        receipts = frozenset(note for (note,) in store.db.execute("SELECT note FROM receipt"))
        memories = store.db.execute("SELECT count(*) FROM memory WHERE status = 'current'").get
    for copy in os.listdir(place):  # the backup is the copy that an upgrade would leave
        if copy.endswith(".bak"):
            os.remove(f"{place}/{copy}")
    return Draft(part, name, place, receipts, present, memories, sum(forgotten.values()) + carried, len(purged))


def _purged(store: SqliteStore, buried: Tombstones) -> list[int]:
    """Return the memories of a store that have a tombstone."""
    rows = store.db.execute("SELECT id, uid, note FROM memory ORDER BY id")
    return [memory for memory, uid, note in rows if uid in buried.memories or note in buried.notes]


def sweep(data: str) -> None:
    """Remove what a restore that died had not yet put in place. The caller holds the drain lock."""
    with suppress(FileNotFoundError):
        for name in os.listdir(data + "/removed"):
            if name.startswith(_DRAFT):
                shutil.rmtree(f"{data}/removed/{name}", ignore_errors=True)
