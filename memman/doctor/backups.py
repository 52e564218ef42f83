"""Whether backups are taken as often as they should be, and the last one is there as it was written."""

import time
from collections.abc import Iterator
from contextlib import closing
from itertools import chain

from memman.config.lockfile import held
from memman.config.tombstones import Tombstones
from memman.doctor.finding import Context, Finding, fail, ok, shell, skipped, warn
from memman.locks import BACKUP_LOCK
from memman.model.errors import DamagedFile
from memman.model.plural import counted
from memman.model.text import duration
from memman.queue.view import QueueView
from memman.recovery.backup import Attempt, faults, interval
from memman.recovery.manifest import Manifest, backups_path, listed
from memman.recovery.swap import unsettled

# Intervals without a backup that are worth a word.
_LATE = 2
_CREATE = shell("memman", "backup", "create")


def check(context: Context) -> Iterator[Finding]:
    """Look at what the schedule asks for, and at the last backup.

    Fails where a file of it is not there as it was; warns after two missed intervals, and of one that failed
    """
    found = listed(context.data)
    made = [manifest for manifest in found.values() if manifest]
    data = context.data
    troubles = list(chain(_begun(data), _purged(data), _last(data, made), _late(context, made)))
    yield from troubles
    if troubles:
        return
    if made:
        yield ok(f"{counted(len(made), 'backup')}, the newest {_ago(made[0])}")
    else:
        due = interval(context.settings)
        says = "a drain creates the first" if due else "`memman backup schedule daily` creates them automatically"
        yield skipped(f"none yet; {says}")


def _begun(data: str) -> Iterator[Finding]:
    if not held(f"{data}/{BACKUP_LOCK}") and unsettled(data):
        yield fail("a restore was interrupted: a store may be missing", shell("memman", "scheduler", "drain"))


def _purged(data: str) -> Iterator[Finding]:
    try:
        Tombstones.load(data)
    except DamagedFile as error:
        yield warn(str(error))


def _last(data: str, made: list[Manifest]) -> Iterator[Finding]:
    for manifest in made[:1]:
        for fault in faults(f"{backups_path(data)}/{manifest.id}", manifest.parts, cheap=True):
            yield fail(f"backup {manifest.id} is damaged: {fault}", _CREATE)


def _late(context: Context, made: list[Manifest]) -> Iterator[Finding]:
    every = interval(context.settings)
    if not every or "queue" not in context.databases():
        return
    with closing(QueueView(context.data)) as queue:
        last = Attempt.last(queue)
    if last.error:
        yield warn(f"the last backup failed: {last.error}", _CREATE)
    elif last.at and (not made or time.time() * 1000 - made[0].at > _LATE * every):
        when = _ago(made[0]) if made else "never"
        yield warn(f"the last backup was {when}, but one is due every {duration(every / 1000)}", _CREATE)


def _ago(made: Manifest) -> str:
    return f"{duration(max(0.0, time.time() - made.at / 1000))} ago"
