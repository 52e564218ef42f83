"""Bringing back what a backup holds: a store gets the records that it lacks, and one that is gone is made again.

Nothing is taken away, and nothing goes back in time. Every step is whole or undone, and the same command makes good
one that was cut short.
"""

import os
from collections import Counter
from contextlib import ExitStack, closing
from dataclasses import dataclass

from memman.clock import now_ms
from memman.config import stores
from memman.config.places import fsync_folder, queue_path, store_path, write_file
from memman.config.purged import Buried, Tombstones, keep, kept, tombstones_path
from memman.config.schedule import refuse_stopped, ring
from memman.locks import exchanging, quiet
from memman.model.errors import DamagedFile, NewerSchema, UsageError
from memman.model.vocabulary import CONNECTED
from memman.queue.notes import Queue
from memman.queue.schema import VERSION as QUEUE_SCHEMA
from memman.recovery.backup import Manifest, Part, backups_path, check, fill, found, holding
from memman.recovery.copies import sweep
from memman.recovery.purge import erase
from memman.recovery.repair import workplace
from memman.recovery.taking_in import take_in
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.reach import connected
from memman.store.sqlite import record_log, rules
from memman.store.sqlite.schema import VERSION as STORE_SCHEMA
from memman.store.sqlite.store import SqliteStore, open_store
from memman.upkeep.rules import publish

_THERE = "SELECT uid FROM memory UNION SELECT uid FROM rule UNION SELECT memory FROM record WHERE kind = 'purged'"


@dataclass(slots=True)
class Restored:
    """What became of one store: it was `made` from the backup, or got `records` about `changed` memories.

    `memories` are those that hold now; `waiting` counts notes that wait again, `purged` what stays away because it was
    purged since.
    """

    store: str
    made: bool = False
    memories: int = 0
    records: int = 0
    changed: int = 0
    purged: int = 0
    waiting: int = 0


def restore(data: str, part: str, *, store: str | None = None, to: str | None = None) -> list[Restored]:
    """Restore every store of a backup, or one, under its own name or another; return what became of each.

    Raises UnknownId, UsageError, DamagedFile, NewerSchema, Busy and CannotWrite.
    """
    refuse_stopped(data, "backup restore")
    with quiet(data), ExitStack() as places:
        sweep(data)
        folder = f"{backups_path(data)}/{found(data, part)}"
        manifest = Manifest.load(folder)
        wanted = _wanted(data, manifest, store, to)
        check(folder, [*wanted.values(), *filter(None, [manifest.queue])])
        _refuse_damaged_queue(data)
        # What says the same as something that was purged before the backup was taken was left there by a person.
        texts = Buried.load(data).since(manifest.purged_texts)
        done = {name: Restored(name) for name in wanted}
        copies = {name: places.enter_context(workplace(store_path(data, name))) + "/memman.db" for name in wanted}
        for name, copied in wanted.items():
            _copied(data, f"{folder}/{copied.file}", copies[name], done[name], texts)
        for name in wanted:
            if stores.exists(data, name):
                _added(data, copies[name], done[name])
            else:
                _placed(data, copies[name], done[name])
        for name, waiting in _queued(data, folder, manifest, store, to, texts).items():
            if name in done:
                done[name].waiting = waiting
        _buried(data, manifest)
        if store is None:
            _choices(data, manifest)
        publish(data)
    ring(data)
    return [*done.values()]


def _wanted(data: str, manifest: Manifest, store: str | None, to: str | None) -> dict[str, Part]:
    """Return the parts to restore, by the name each is to have."""
    held = manifest.stores
    for part in manifest.parts:
        newest = STORE_SCHEMA if part.store else QUEUE_SCHEMA
        if part.schema > newest:
            known = f"this memman only knows {newest}: upgrade memman"
            raise NewerSchema(f"{part.file} of {manifest.id} has schema {part.schema}, but {known}")
        if to is None and part.store and part.schema < STORE_SCHEMA:
            raise UsageError(f"{part.file} of {manifest.id} is of an earlier memman: --to restores it as another store")
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


def _copied(data: str, source: str, path: str, one: Restored, texts: Buried) -> None:
    """Copy a store out of a backup, without what was purged since and is not there."""
    there = set[str]()
    if stores.exists(data, one.store):
        with closing(open_store(data, one.store)) as store:
            there = {uid for (uid,) in store.db.execute(_THERE)}
    with TranslatedErrors(source), closing(open_reader(source)) as db:
        fill(path, db, "WAL")
    with TranslatedErrors(path), closing(SqliteStore(path)) as copy:
        buried = Tombstones.load(data)
        rows = copy.db.execute("SELECT id, uid, note, text FROM memory ORDER BY id")
        gone = [
            memory
            for memory, uid, note, text in rows
            if uid not in there and (buried.hold(note, uid) or texts.says(text))
        ]
        ruled = [uid for rule in rules.worded(copy.reader) if (uid := rule["uid"]) in buried.notes - there]
        with copy.unit() as unit:
            unit.set_meta(CONNECTED, None)  # a copy of what a server has is this machine's own
            record_log.renew_host(unit.db)
            erase(copy, unit, gone)
            rules.purge(unit, ruled, now_ms())
        if gone or ruled:
            copy.db.execute("VACUUM")
    one.purged = len(gone)


def _placed(data: str, copy: str, one: Restored) -> None:
    """Put the copy where no store is, by one renaming."""
    path = store_path(data, one.store)
    with TranslatedErrors(path), exchanging(data):
        os.rename(copy, path)
        fsync_folder(os.path.dirname(path))
        with closing(open_reader(path)) as db:
            one.made, one.memories = True, holding(db)


def _added(data: str, copy: str, one: Restored) -> None:
    """Add to a store the records of the copy that it lacks."""
    with TranslatedErrors(copy), closing(open_reader(copy)) as db:
        every = list(record_log.every(db))
    with closing(open_store(data, one.store)) as store:
        new = take_in(store, data, one.store, every)
        one.records, one.changed = len(new), len(store.reader.located({record.memory for record in new}))
        store.maintain()
        one.memories = holding(store.db)


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
