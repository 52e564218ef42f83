"""Bringing back what a backup holds: stores change places, notes that waited then wait again, nothing is overwritten.

Each store is made whole beside its place before it takes it, under the drain
lock. The queue stays: to it come the notes that the backup's still held and
that no store in force afterwards has a receipt for. That comes first, so that
a restore which dies has lost nothing, and may be made again.
"""

import os
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import count

from memman.clock import now_ms
from memman.config import stores
from memman.config.buried import Buried, keep, kept
from memman.config.places import make_folder, store_path, write_file
from memman.config.schedule import refuse_stopped, ring
from memman.config.tombstones import Tombstones, tombstones_path
from memman.locks import exchanging, quiet
from memman.model.errors import CannotWrite, NewerSchema, UsageError
from memman.model.vocabulary import CONNECTED
from memman.queue.schema import VERSION as QUEUE_SCHEMA
from memman.recovery import waiting
from memman.recovery.backup import Progress, check, fill, told, unseen
from memman.recovery.manifest import Manifest, Part, backups_path, found
from memman.recovery.present import Present, carry
from memman.recovery.purge import erase
from memman.recovery.swap import aside_path, drafted, finish, put
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.opening import connected
from memman.store.sqlite import rules
from memman.store.sqlite.schema import VERSION as STORE_SCHEMA
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit
from memman.upkeep.rules import publish


@dataclass(frozen=True, slots=True)
class Restored:
    """What became of one store.

    `aside` is where what was there lies now, '' where nothing was; `memories` how many there are again; `waiting` how
    many notes wait again; `missing` how many notes were dealt with since the backup, None where what was there cannot
    be read; `forgotten` and `purged` what was so since, and stays so.
    """

    store: str
    aside: str
    memories: int
    waiting: int
    missing: int | None
    forgotten: int
    purged: int


@dataclass(frozen=True, slots=True)
class Prepared:
    """A store made ready to take its place, to be called `name`, copied from that of `part`."""

    part: Part
    name: str
    receipts: frozenset[str]
    present: Present
    memories: int
    forgotten: int
    purged: int


def restore(
    data: str, part: str, *, store: str | None = None, to: str | None = None, progress: Progress = unseen
) -> list[Restored]:
    """Restore every store of a backup, or one, under its own name or another; return what became of each.

    `progress` is told (steps done with databases, of how many). Raises UnknownId, UsageError, DamagedFile,
    NewerSchema, Busy and CannotWrite; then no store is lost, and but for a disk that fails at the last steps nothing
    has changed.
    """
    refuse_stopped(data, "backup restore")
    with quiet(data), exchanging(data):
        finish(data)
        folder = f"{backups_path(data)}/{found(data, part)}"
        manifest = Manifest.load(folder)
        wanted = _wanted(data, manifest, store, to)
        parts = [*wanted.values(), *filter(None, [manifest.queue])]
        steps, total = count(1), len(parts) + 2 * len(wanted)
        check(folder, told(parts, steps, total, progress))
        _one_disk(data)
        # What says the same as something that was purged before the backup was taken was left there by a person.
        texts = Buried.load(data).since(manifest.purged_texts)
        try:
            drafts = [
                _made(data, folder, part, name, texts) for name, part in told(wanted.items(), steps, total, progress)
            ]
            held = {draft.part.store: draft for draft in drafts}
            again = waiting.again(data, folder, manifest.queue, held, store, texts)
            done = [_placed(data, draft, again) for draft in told(drafts, steps, total, progress)]
        finally:
            finish(data)
        _buried(data, manifest)
        if store is None:
            _choices(data, manifest)
        publish(data)
    ring(data)
    return done


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


def _one_disk(data: str) -> None:
    """Raise CannotWrite where a store that is made ready could not be put in its place."""
    places = (data + "/data", data + "/removed")
    for place in places:
        with TranslatedErrors(place):
            make_folder(place)
    if len({os.stat(place).st_dev for place in places}) > 1:
        raise CannotWrite(
            f"{places[1]} is on another disk than {places[0]}: move both to one disk; nothing was changed"
        )


def _made(data: str, folder: str, part: Part, name: str, texts: Buried) -> Prepared:
    """Make a store ready; what was purged or forgotten since the backup goes before anybody can find it.

    Notes of which something was forgotten come along as they are now: they may have waited then, and no backup that is
    restored later may bring them back either.
    """
    place = drafted(data, name)
    path, present = f"{place}/memman.db", Present.of(data, part.store)
    with TranslatedErrors(path):
        make_folder(place)
    source = f"{folder}/{part.file}"
    with TranslatedErrors(source), closing(open_reader(source)) as db:
        fill(path, db, "WAL")
    with TranslatedErrors(path), closing(SqliteStore(path)) as store:
        with store.unit() as unit:
            unit.set_meta(CONNECTED, None)  # a copy of what a server has is this machine's own
            before = _statuses(unit)
            carry(unit, present)
            seen = before.keys() | _statuses(unit).keys()
            # What was purged may have come along: another copy of the store holds it still.
            buried = Tombstones.load(data)
            erase(store, unit, _purged(store, buried, texts, present))
            ruled = [rule["uid"] for rule in rules.worded(store.reader) if rule["uid"] in buried.notes]
            rules.purge(unit, ruled, now_ms())
            after = _statuses(unit)
        purged = len(seen - after.keys())
        forgotten = [uid for uid, status in after.items() if status == "forgotten" != before.get(uid)]
        if purged or ruled:
            store.db.execute("VACUUM")
        receipts = frozenset(note for (note,) in store.db.execute("SELECT note FROM receipt"))
        memories = store.db.execute("SELECT count(*) FROM memory WHERE status = 'current'").get
    for copy in os.listdir(place):  # the backup is the copy that an upgrade would leave
        if copy.endswith(".bak"):
            os.remove(f"{place}/{copy}")
    return Prepared(part, name, receipts, present, memories, len(forgotten), purged)


def _statuses(unit: SqliteUnit) -> dict[str, str]:
    return dict(unit.db.execute("SELECT uid, status FROM memory"))


def _purged(store: SqliteStore, buried: Tombstones, texts: Buried, present: Present) -> list[int]:
    """Return the memories of a store that have a tombstone, or say what was purged, unless that is stored now."""
    rows = store.db.execute("SELECT id, uid, note, text FROM memory ORDER BY id")
    return [
        memory
        for memory, uid, note, text in rows
        if buried.hold(note, uid) or (texts.says(text) and note not in present.stored)
    ]


def _placed(data: str, draft: Prepared, again: Mapping[str, frozenset[str]]) -> Restored:
    """Put a store in its place; what was there lies aside then."""
    aside, there = aside_path(data, draft.name), os.path.exists(os.path.dirname(store_path(data, draft.name)))
    put(data, draft.name, aside)
    notes = again.get(draft.part.store, frozenset())
    missing = len(draft.present.stored - draft.receipts - notes) if draft.present.readable else None
    return Restored(
        draft.name, aside if there else "", draft.memories, len(notes), missing, draft.forgotten, draft.purged
    )


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
