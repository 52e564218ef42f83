"""What is kept: databases, notes that wait, what a person has to look at, and backups."""

import os
from collections.abc import Iterator
from contextlib import closing
from glob import escape, glob
from itertools import chain

from memman import __version__
from memman.clock import now_ms
from memman.config import stores
from memman.config.places import store_path
from memman.doctor.finding import Context, Finding, fail, shell, skipped, sound, warn
from memman.model.errors import DamagedFile, MemmanError, NewerSchema
from memman.model.plural import counted
from memman.model.text import duration
from memman.queue.schema import STEPS as QUEUE
from memman.queue.view import QueueView
from memman.recovery import backup
from memman.recovery.backup import Manifest, backups_path, listed
from memman.recovery.check import troubles
from memman.store.sqlite import screened
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.schema import STEPS as STORE

# (notes, seconds) beyond which a backlog is worth a word, and beyond which nothing can be getting through.
_MANY, _TOO_MANY = 100, 1000
_LONG, _TOO_LONG = 3600, 86_400
# Intervals without a backup that are worth a word.
_LATE = 2
_DRAIN, _BACKUP = "memman scheduler drain", "memman backup create"


def integrity(context: Context) -> Iterator[Finding]:
    """Check the pages and rows of each file, and that none is missing, older than expected, or from a newer memman."""
    if not context.databases:
        return iter([skipped("no database yet")])
    each = chain.from_iterable(_damage(what, path) for what, path in context.databases.items())
    return sound(chain(each, _lost(context.data)), f"{counted(len(context.databases), 'database')}, all sound")


def queue(context: Context) -> Iterator[Finding]:
    """Check how many notes wait, since when and why, and how many were given up.

    More than 100, or one for 1 hour, is a warning; more than 1000, or one for 1 day, a failure.
    """
    with closing(QueueView(context.data)) as view:
        depth, oldest, why = view.waiting(), view.oldest(), view.why()
        parked = view.listed(("parked",), -1)
    age = 0 if oldest is None else max(0, (now_ms() - oldest) // 1000)
    says = f"{counted(depth, 'note')} queued, the oldest for {duration(age)}" if depth else "no queued notes"
    found = []
    if parked:
        error = str(parked[0]["error"] or "").partition(":")[0]
        given_up = f"{counted(len(parked), 'note')} parked after five failed attempts"
        given_up += f", last error: {error}" if error else ""
        hint = "see `memman scheduler queue failed`"
        found.append(warn(given_up, "memman scheduler queue retry --all", hint))
    grave = depth > _TOO_MANY or age > _TOO_LONG
    if grave or depth > _MANY or age > _LONG or (depth and why):
        found.append((fail if grave else warn)(says, _DRAIN, why))
    return sound(found, says)


def review(context: Context) -> Iterator[Finding]:
    """Count the memories held back for review, and name stores in which drains found a secret."""
    return sound(_left_to_you(context), "no memories held back, no known secrets")


def backups(context: Context) -> Iterator[Finding]:
    """Check that the last backup is unchanged, and less than two intervals of the schedule late."""
    data = context.data
    made = [manifest for manifest in listed(data).values() if manifest]
    found = [*_last_backup(context, made)]
    if found or made:
        return sound(found, f"{counted(len(made), 'backup')}, the newest {_ago(made)}")
    due = backup.interval(context.settings)
    says = "a drain creates the first" if due else "`memman backup schedule daily` creates them automatically"
    return iter([skipped(f"none yet; {says}")])


def _damage(what: str, path: str) -> Iterator[Finding]:
    try:
        says = troubles(path, QUEUE if what == "queue" else STORE)
    except MemmanError as error:
        yield fail(str(error), hint=f"this is memman {__version__}")
        return
    if says:
        which = ("--queue",) if what == "queue" else ("--store", path.split("/")[-2])
        mend = shell("memman", "repair", *which)
        yield fail(f"{what} ({path}) is damaged: {says}", mend, "the damaged file is kept")


def _lost(data: str) -> Iterator[Finding]:
    """Find stores that are not there, or lack notes that were stored in them, though memman moved none away."""
    try:
        with closing(QueueView(data)) as view:
            stored = view.stored()
    except MemmanError:  # it was looked at before
        return
    for store, notes in stored.items():
        moved = [os.lstat(path).st_ctime * 1000 for path in glob(f"{escape(data)}/removed/{store}-*")]
        if not stores.exists(data, store):
            if not moved:
                says = f"the database of store {store!r} is missing, although notes were stored in it"
                place = os.path.dirname(store_path(data, store))
                yield warn(says, hint=f"its folder is {place}; see `memman backup list`")
            continue
        try:
            with Catalogue.open(store_path(data, store)) as catalogue:
                since = [note for note, at in notes.items() if at > max(moved, default=0)]
                lost = sum(not catalogue.reader.has_receipt(note) for note in since)
        except MemmanError:  # it was looked at before
            continue
        if lost:
            says = f"store {store!r} lacks {counted(lost, 'note')} that had been stored in it"
            back = "put the newer copy back, or see `memman backup list`"
            accept = "`memman scheduler queue purge --done` accepts the loss"
            yield fail(f"{says}: an older copy was put back", hint=f"{back}; {accept}")


def _left_to_you(context: Context) -> Iterator[Finding]:
    """Look into each store; what cannot be opened is left to the check of integrity."""
    for name in context.stores:
        try:
            with Catalogue.open(store_path(context.data, name)) as catalogue:
                waiting = catalogue.tally("status").get("review", 0)
                leaky = screened.leaking(catalogue.reader.db)
        except (DamagedFile, NewerSchema) as error:
            yield skipped(str(error))
            continue
        if waiting:
            says = f"{counted(waiting, 'memory')} in store {name!r} held back for review"
            hint = "they look like instructions and came from files, tools or the web: approve or reject them"
            yield warn(says, f"memman review list --store {name}", hint)
        if leaky:
            says = f"store {name!r} contains a secret that current rules detect; recall does not show it"
            hint = "list them with `memman scan`; then revoke or change the secret, because it may have been read"
            yield warn(says, f"memman scan --fix --store {name}", hint)


def _last_backup(context: Context, made: list[Manifest]) -> Iterator[Finding]:
    for manifest in made[:1]:
        for fault in backup.faults(f"{backups_path(context.data)}/{manifest.id}", manifest.parts, cheap=True):
            yield fail(f"backup {manifest.id} is damaged: {fault}", _BACKUP)
    every = backup.interval(context.settings)
    if not every or "queue" not in context.databases:
        return
    with closing(QueueView(context.data)) as view:
        last = backup.Attempt.last(view)
    if last.error:
        yield warn(f"the last backup failed: {last.error}", _BACKUP)
    elif last.at and (not made or now_ms() - made[0].at > _LATE * every):
        yield warn(f"the last backup was {_ago(made)}, but one is due every {duration(every / 1000)}", _BACKUP)


def _ago(made: list[Manifest]) -> str:
    return f"{duration(max(0, now_ms() - made[0].at) / 1000)} ago" if made else "never"
