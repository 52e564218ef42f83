"""Bringing back what a backup holds: a store gets the records that it lacks, and one that is gone is made again.

Nothing is taken away, and nothing goes back in time. Every step is whole or undone, and the same command makes good
one that was cut short.
"""

import os
from collections import Counter
from collections.abc import Collection
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from memman.clock import now_ms
from memman.config import stores
from memman.config.buried import Buried, keep, kept
from memman.config.places import fsync_folder, queue_path, store_path, write_file
from memman.config.schedule import refuse_stopped, ring
from memman.config.tombstones import Tombstones, tombstones_path
from memman.locks import exchanging, quiet
from memman.model.errors import DamagedFile, NewerSchema, UsageError
from memman.model.vocabulary import CONNECTED
from memman.queue.notes import Queue
from memman.queue.schema import VERSION as QUEUE_SCHEMA
from memman.recovery.backup import Progress, check, fill, told, unseen
from memman.recovery.copies import sweep
from memman.recovery.manifest import Manifest, Part, backups_path, found
from memman.recovery.purge import erase
from memman.recovery.recover import Recovered, mended, workplace
from memman.recovery.taking_in import take_in
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.opening import connected, open_store
from memman.store.sqlite import record_log, rules
from memman.store.sqlite.schema import VERSION as STORE_SCHEMA
from memman.store.sqlite.store import SqliteStore
from memman.upkeep.rules import publish

# The schema from which on stores have records: what an earlier one knows gets new ones each time it is opened.
_RECORDS = 9
_THERE = "SELECT uid FROM memory UNION SELECT uid FROM rule UNION SELECT memory FROM record WHERE kind = 'purged'"


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one store: it was `made` from the backup, or got `records` about `changed` memories.

    `memories` are those that hold now; `waiting` counts notes that wait again, `purged` what stays away because it was
    purged since. `repaired` is what became of a file that was damaged.
    """

    store: str
    made: bool
    memories: int
    records: int
    changed: int
    purged: int
    waiting: int = 0
    repaired: Recovered | None = None


@dataclass(slots=True)
class _Draft:
    """A copy of what a backup has of a store, at `path`, which is to be called `name`; `purged` left it."""

    part: Part
    name: str
    path: str
    purged: int = 0
    there: set[str] = field(default_factory=set)


def restore(
    data: str, part: str, *, store: str | None = None, to: str | None = None, progress: Progress = unseen
) -> list[Restored]:
    """Restore every store of a backup, or one, under its own name or another; return what became of each.

    `progress` is told (steps done with databases, of how many). Raises UnknownId, UsageError, DamagedFile,
    NewerSchema, Busy and CannotWrite.
    """
    refuse_stopped(data, "backup restore")
    with quiet(data), ExitStack() as places:
        sweep(data)
        folder = f"{backups_path(data)}/{found(data, part)}"
        manifest = Manifest.load(folder)
        wanted = _wanted(data, manifest, store, to)
        parts = [*wanted.values(), *filter(None, [manifest.queue])]
        steps, total = count(1), len(parts) + 2 * len(wanted)
        check(folder, told(parts, steps, total, progress))
        _refuse_damaged_queue(data)
        # What says the same as something that was purged before the backup was taken was left there by a person.
        texts = Buried.load(data).since(manifest.purged_texts)
        repaired = {name: mended(data, name) for name in wanted}
        drafts = [
            _drafted(places, data, folder, part, name, texts)
            for name, part in told(wanted.items(), steps, total, progress)
        ]
        done = [
            _added(data, draft) if stores.exists(data, draft.name) else _placed(data, draft)
            for draft in told(drafts, steps, total, progress)
        ]
        waiting = _queued(data, folder, manifest, store, to, texts)
        _buried(data, manifest)
        if store is None:
            _choices(data, manifest)
        publish(data)
    ring(data)
    return [Restored(*one, waiting[one[0]], repaired[one[0]]) for one in done]


def _wanted(data: str, manifest: Manifest, store: str | None, to: str | None) -> dict[str, Part]:
    """Return the parts to restore, by the name each is to have."""
    held = manifest.stores
    for part in manifest.parts:
        newest = STORE_SCHEMA if part.store else QUEUE_SCHEMA
        if part.schema > newest:
            known = f"this memman only knows {newest}: upgrade memman"
            raise NewerSchema(f"{part.file} of {manifest.id} has schema {part.schema}, but {known}")
    if store is not None and store not in held:
        raise UsageError(f"backup {manifest.id} has no store {store!r}: it holds {', '.join(held) or 'none'}")
    chosen = {name: part for name, part in held.items() if store in {None, name}}
    if to is None:
        own = {name: part for name, part in chosen.items() if name not in connected(data)}
        if chosen and not own:
            raise UsageError(
                f"store {', '.join(chosen)} is on a server, which has it: `memman migrate --to sqlite` makes it this"
                " machine's own first, or --to restores it under another name"
            )
        return own
    if len(chosen) != 1:
        raise UsageError(f"--to restores one store: select it with --store ({', '.join(held)})")
    if stores.exists(data, stores.harmless(to)):
        raise UsageError(f"store {to!r} already exists: use another name, or leave out --to")
    return {to: next(iter(chosen.values()))}


def _refuse_damaged_queue(data: str) -> None:
    try:
        Queue(data).close()
    except DamagedFile as error:
        raise DamagedFile(f"{queue_path(data)} is damaged: run `memman repair --queue`, then restore again") from error


def _drafted(places: ExitStack, data: str, folder: str, part: Part, name: str, texts: Buried) -> _Draft:
    """Copy a store out of a backup, beside where it is to be, without what was purged since."""
    path = store_path(data, name)
    draft = _Draft(part, name, places.enter_context(workplace(path)) + "/memman.db")
    if stores.exists(data, name):
        with closing(open_store(data, name)) as there:
            draft.there = {uid for (uid,) in there.db.execute(_THERE)}
    source = f"{folder}/{part.file}"
    with TranslatedErrors(source), closing(open_reader(source)) as db:
        fill(draft.path, db, "WAL")
    with TranslatedErrors(draft.path), closing(SqliteStore(draft.path)) as copy:
        gone, ruled = _purged(copy, Tombstones.load(data), texts, draft.there)
        with copy.unit() as unit:
            unit.set_meta(CONNECTED, None)  # a copy of what a server has is this machine's own
            record_log.renew_host(unit.db)
            erase(copy, unit, gone)
            rules.purge(unit, ruled, now_ms())
        if gone or ruled:
            copy.db.execute("VACUUM")
    draft.purged = len(gone)
    return draft


def _purged(
    store: SqliteStore, buried: Tombstones, texts: Buried, there: Collection[str]
) -> tuple[list[int], list[str]]:
    """Return the memories that have a tombstone, or say what was purged, and the rules; not what is `there`."""
    rows = store.db.execute("SELECT id, uid, note, text FROM memory ORDER BY id")
    gone = [
        memory for memory, uid, note, text in rows if uid not in there and (buried.hold(note, uid) or texts.says(text))
    ]
    return gone, [uid for rule in rules.worded(store.reader) if (uid := rule["uid"]) in buried.notes - {*there}]


def _placed(data: str, draft: _Draft) -> tuple[str, bool, int, int, int, int]:
    """Put the copy where no store is, by one renaming."""
    path = store_path(data, draft.name)
    with TranslatedErrors(path), exchanging(data):
        os.rename(draft.path, path)
        fsync_folder(os.path.dirname(path))
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        return draft.name, True, _holding(db), 0, 0, draft.purged


def _added(data: str, draft: _Draft) -> tuple[str, bool, int, int, int, int]:
    """Add to a store the records of the copy that it lacks, all of them or none."""
    with TranslatedErrors(draft.path), closing(open_reader(draft.path)) as copy:
        every = [
            one for one in record_log.every(copy) if draft.part.schema >= _RECORDS or one.memory not in draft.there
        ]
    with closing(open_store(data, draft.name)) as store:
        new = take_in(store, data, draft.name, every)
        changed = len({*store.reader.located([one.memory for one in new])})
        store.maintain()
        return draft.name, False, _holding(store.db), len(new), changed, draft.purged


def _holding(db: Any) -> int:
    return int(db.execute("SELECT count(*) FROM memory WHERE status = 'current'").get)


def _queued(
    data: str, folder: str, manifest: Manifest, only: str | None, to: str | None, texts: Buried
) -> Counter[str]:
    """Have notes wait again that waited in the backup, and that neither the queue nor their store knows by now."""
    if not manifest.queue:
        return Counter()
    path = f"{folder}/{manifest.queue.file}"
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        names = [name for (name,) in db.execute("SELECT name FROM pragma_table_info('note') WHERE name <> 'id'")]
        rows = db.execute(f"SELECT {', '.join(names)} FROM note WHERE state <> 'done' ORDER BY id")
        notes = [row for one in rows if only in {None, (row := dict(zip(names, one, strict=True)))["store"]}]
    gone = set(Tombstones.load(data).touched)
    for store in {to, *(note["store"] for note in notes)} & {*stores.names(data)}:
        path = store_path(data, store)
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            gone |= {note for (note,) in db.execute("SELECT note FROM receipt")}
    left = [note | {"attempts": 0} for note in notes if note["uid"] not in gone and not texts.says(note["text"])]
    with closing(Queue(data)) as queue:
        return Counter(queue.put_back(left, to or ""))


def _buried(data: str, manifest: Manifest) -> None:
    """Bring along what keeps away what was purged, where nothing was purged yet: in another data folder."""
    if manifest.purged and not os.path.exists(tombstones_path(data)):
        write_file(tombstones_path(data), manifest.purged)
    if not any(kept(data)):
        keep(data, manifest.purged_key.split(), manifest.purged_texts.split())


def _choices(data: str, manifest: Manifest) -> None:
    """Bring back which store is in use, and which repositories are bound, where nothing says so."""
    for name, said in (("active", manifest.active), ("bindings", manifest.bindings)):
        if said and not os.path.exists(f"{data}/{name}"):
            write_file(f"{data}/{name}", said)
