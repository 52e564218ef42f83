"""Whether the queue and every store are sound databases.

Looks at: queue and stores
Finds: page checksums and SQLite's check of each, digests of memories and waiting notes, tables that are not those of
the schema, files that are no database, files of 0 bytes
"""

import os
from collections.abc import Iterator
from contextlib import closing
from glob import escape, glob
from itertools import chain

from memman.config import stores
from memman.config.places import store_path
from memman.doctor.finding import Context, Finding, backup, fail, shell, skipped, sound, warn
from memman.model.errors import MemmanError
from memman.model.plural import counted
from memman.queue.schema import STEPS as QUEUE
from memman.queue.view import QueueView
from memman.recovery.check import troubles
from memman.store.sqlite.schema import STEPS as STORE

_KEEP = "the damaged file is kept"


def check(context: Context) -> Iterator[Finding]:
    """Check the pages of each file, and what its rows say."""
    found = context.databases()
    if not found:
        yield skipped("no database yet")
        return
    findings = (finding for what, path in found.items() for finding in _look(what, path))
    yield from sound(chain(findings, _gone(context.data)), f"{counted(len(found), 'database')}, all sound")


def _look(what: str, path: str) -> Iterator[Finding]:
    try:
        says = troubles(path, QUEUE if what == "queue" else STORE)
    except MemmanError as error:
        yield fail(str(error))
        return
    if says:
        yield fail(f"{what} ({path}) is damaged: {says}", _mend(what, path), backup(path, _KEEP))


def _gone(data: str) -> Iterator[Finding]:
    """Name the stores that notes were stored in, and that are there no more, though nobody removed them."""
    try:
        with closing(QueueView(data)) as queue:
            stored = queue.stored()
    except MemmanError:  # it was looked at before
        return
    for store in stored:
        if not stores.exists(data, store) and not glob(f"{escape(data)}/removed/{store}-*"):
            hint = f"its folder is {os.path.dirname(store_path(data, store))}; see `memman backup list`"
            yield warn(f"the database of store {store!r} is missing, although notes were stored in it", hint=hint)


def _mend(what: str, path: str) -> str:
    """Return the command that makes a damaged database anew of what can be read of it."""
    return shell("memman", "repair", *(["--queue"] if what == "queue" else ["--store", path.split("/")[-2]]))
