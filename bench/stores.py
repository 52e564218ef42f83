"""What stores are written by: many notes a transaction, with the product's own stages."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from bench import corpus
from memman.config.places import store_path
from memman.model.records import Note, Provenance
from memman.model.uid import new_uid
from memman.store.sqlite.screened import due
from memman.store.sqlite.store import SqliteStore, open_store
from memman.store.sqlite.unit import SqliteUnit
from memman.upkeep.screen import screen

# Notes a transaction.
BATCH = 500
# The first note was made in November 2023, one every ten minutes since.
_BEGAN_MS = 1_700_000_000_000
_STEP_MS = 600_000


class Joined:
    """A store whose transaction is open already: what commits to it joins in."""

    def __init__(self, store: SqliteStore, unit: SqliteUnit) -> None:
        self.reader = store.reader
        self.cell = store.cell
        self._unit = unit

    @contextmanager
    def unit(self) -> Iterator[SqliteUnit]:
        """Hand out the open transaction."""
        yield self._unit


def note(n: int, sample: corpus.Sample) -> Note:
    """Make note number `n` as the queue would give it to the drain."""
    at = _BEGAN_MS + n * _STEP_MS
    return Note(new_uid(at), "default", sample.text, at, provenance=Provenance("agent", "claude-code", sample.session))


def upgrade(folder: str) -> None:
    """Do what idle drains do after an upgrade of the rules for secrets; a store just built leaves nothing to do."""
    if due(store_path(folder, "default")):
        store = open_store(folder, "default")
        while asyncio.run(screen(("default",), lambda name: store, lambda: False, lambda: None)):  # noqa: ARG005
            pass
        store.close()
