"""The queue's and the stores' databases: their schema, and whether they are sound and complete."""

import os
from collections.abc import Iterator
from contextlib import closing
from glob import escape, glob
from itertools import chain

from memman import __version__
from memman.config import stores
from memman.config.places import store_path
from memman.doctor.finding import Context, Finding, backup, fail, ok, shell, skipped, sound, warn
from memman.model.errors import DamagedFile, MemmanError
from memman.model.plural import counted
from memman.queue.schema import STEPS as QUEUE
from memman.queue.view import QueueView
from memman.recovery.check import troubles
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.schema import STEPS as STORE

_STEPS = {True: QUEUE, False: STORE}
_KEEP = "the damaged file is kept"


def schema(context: Context) -> Iterator[Finding]:
    """Compare each file's schema with this memman's.

    Fails where a newer memman wrote them; an older schema is upgraded on use
    """
    found = context.databases()
    if not found:
        yield skipped("no database yet")
        return
    says = f"queue {max(QUEUE)}, stores {max(STORE)}"
    yield from sound((finding for what, path in found.items() for finding in _version(what, path)), says)


def integrity(context: Context) -> Iterator[Finding]:
    """Check the pages of each file, what its rows say, and that no store is an older copy of itself.

    Fails of damaged pages, memories and notes, tables that are not those of the schema, files that are no
    database or empty, and a store that lacks notes which were stored in it; warns where such a store is missing
    """
    found = context.databases()
    if not found:
        yield skipped("no database yet")
        return
    damaged = (finding for what, path in found.items() for finding in _damage(what, path))
    yield from sound(chain(damaged, _lost(context.data)), f"{counted(len(found), 'database')}, all sound")


def _version(what: str, path: str) -> Iterator[Finding]:
    newest = max(_STEPS[what == "queue"])
    try:
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            version = db.execute("PRAGMA user_version").get
    except DamagedFile:
        return  # the check of integrity says so
    if version > newest:
        says = f"{what} ({path}) has schema {version}, but this memman only knows {newest}"
        yield fail(says, hint=backup(path, f"upgrade memman (this is {__version__})"))
    elif version and version < newest:
        yield ok(f"{what} has schema {version} and will be upgraded to {newest} at its next use")


def _damage(what: str, path: str) -> Iterator[Finding]:
    try:
        says = troubles(path, _STEPS[what == "queue"])
    except MemmanError as error:
        yield fail(str(error))
        return
    if says:
        which = ("--queue",) if what == "queue" else ("--store", path.split("/")[-2])
        yield fail(f"{what} ({path}) is damaged: {says}", shell("memman", "repair", *which), backup(path, _KEEP))


def _lost(data: str) -> Iterator[Finding]:
    """Find stores that are not there, or lack notes that were stored in them, though memman moved none away."""
    try:
        with closing(QueueView(data)) as queue:
            stored = queue.stored()
    except MemmanError:  # it was looked at before
        return
    for store, notes in stored.items():
        moved = [os.lstat(path).st_ctime * 1000 for path in glob(f"{escape(data)}/removed/{store}-*")]
        if not stores.exists(data, store):
            if not moved:
                hint = f"its folder is {os.path.dirname(store_path(data, store))}; see `memman backup list`"
                says = f"the database of store {store!r} is missing, although notes were stored in it"
                yield warn(says, hint=hint)
            continue
        try:
            with Catalogue.open(store_path(data, store)) as catalogue:
                since = [note for note, at in notes.items() if at > max(moved, default=0)]
                lost = sum(not catalogue.reader.has_receipt(note) for note in since)
        except MemmanError:  # it was looked at before
            continue
        if lost:
            yield fail(
                f"store {store!r} lacks {counted(lost, 'note')} that had been stored in it: an older copy was put back",
                hint="put the newer copy back, or see `memman backup list`; `memman scheduler queue purge --done` "
                "accepts the loss",
            )
