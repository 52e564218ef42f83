"""Whether the queue and every store have a schema that this memman knows.

Looks at: queue and stores
Finds: written by a newer memman; an older schema is upgraded on use
"""

from collections.abc import Iterator
from contextlib import closing

from memman import __version__
from memman.doctor.finding import Context, Finding, backup, fail, ok, skipped, sound
from memman.model.errors import DamagedFile
from memman.queue.schema import VERSION as QUEUE_SCHEMA
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.sqlite.schema import VERSION as STORE_SCHEMA


def check(context: Context) -> Iterator[Finding]:
    """Compare each file's schema with this memman's."""
    found = context.databases()
    if not found:
        yield skipped("no database yet")
        return
    says = f"queue {QUEUE_SCHEMA}, stores {STORE_SCHEMA}"
    yield from sound((finding for what, path in found.items() for finding in _look(what, path)), says)


def _look(what: str, path: str) -> Iterator[Finding]:
    newest = QUEUE_SCHEMA if what == "queue" else STORE_SCHEMA
    try:
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            version = db.execute("PRAGMA user_version").get
    except DamagedFile:
        return  # the check of integrity says so
    if version > newest:
        hint = f"upgrade memman (this is {__version__})"
        yield fail(
            f"{what} ({path}) has schema {version}, but this memman only knows {newest}", hint=backup(path, hint)
        )
    elif version and version < newest:
        yield ok(f"{what} has schema {version} and will be upgraded to {newest} at its next use")
