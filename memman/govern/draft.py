"""A store of a backup made ready to take its place."""

import os
from contextlib import closing
from dataclasses import dataclass

from memman.backup.copy import fill
from memman.backup.manifest import Part
from memman.backup.swap import drafted
from memman.clock import now_ms
from memman.config.places import make_folder
from memman.govern.present import Present, carry
from memman.govern.purge import erase
from memman.govern.tombstones import Tombstones
from memman.pipeline import context
from memman.providers import builtin_embedder
from memman.sqlite import Guard, open_reader
from memman.store.sqlite.store import SqliteStore


@dataclass(frozen=True, slots=True)
class Draft:
    """A store made ready to take its place, to be called `name`, copied from that of `part`."""

    part: Part
    name: str
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
    place = drafted(data, name)
    path, present = f"{place}/memman.db", Present.of(data, part.store)
    with Guard(path):
        make_folder(place)
    source = f"{folder}/{part.file}"
    with Guard(source), closing(open_reader(source)) as db:
        fill(path, db, "WAL")
    with Guard(path), closing(SqliteStore(path)) as store, builtin_embedder() as local:
        with store.unit() as unit:
            # Beside a store that goes by another name, its own keeps what it knows.
            if name == part.store:
                carry(store, unit, local, present)
            # What was purged may have come along: another copy of the store holds it still.
            purged = _purged(store, Tombstones.load(data))
            erase(store, unit, local, purged)
            gone = store.reader.located(present.forgotten) - set(purged)
            forgotten = context.forget(unit, local, store.cell, sorted(gone), now_ms())
        if purged:
            store.db.execute("VACUUM")
        receipts = frozenset(note for (note,) in store.db.execute("SELECT note FROM receipt"))
        memories = store.db.execute("SELECT count(*) FROM memory WHERE status = 'current'").get
    for copy in os.listdir(place):  # the backup is the copy that an upgrade would leave
        if copy.endswith(".bak"):
            os.remove(f"{place}/{copy}")
    return Draft(part, name, receipts, present, memories, sum(forgotten.values()), len(purged))


def _purged(store: SqliteStore, buried: Tombstones) -> list[int]:
    """Return the memories of a store that have a tombstone."""
    rows = store.db.execute("SELECT id, uid, note FROM memory ORDER BY id")
    return [memory for memory, uid, note in rows if uid in buried.memories or note in buried.notes]
