"""Backups: what they say of themselves, taking them, asked or due, verifying them, and throwing them away.

A folder is listed whole, or not at all.
"""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from hashlib import file_digest, sha256
from typing import Any

import apsw

from memman.clock import now_ms
from memman.config import stores
from memman.config.env import Settings
from memman.config.keys import BACKUP_WORDS
from memman.config.places import fsync_folder, make_folder, open_file, queue_path, read_file, store_path, write_file
from memman.config.purged import kept, tombstones_path
from memman.locks import backup_lock
from memman.model.errors import AmbiguousId, Busy, DamagedFile, MemmanError, UnknownId, UnknownStore, UsageError
from memman.model.objects import parsed, record, typed
from memman.queue.notes import Queue
from memman.sqlite import TranslatedErrors, open_reader, open_writer, transcribe

NEWEST = "latest"
# What is counted: the memories that hold, as everywhere where memories are counted.
CURRENT = "current"
_STAMP = "%Y%m%dT%H%M%SZ"
_STAMP_LENGTH = 16
_DRAFT = ".draft-"
_COMPLAINTS = 3
# Queue setting: the last attempt.
_KEY = "backup"
_HOUR_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Part:
    """One database of a backup: that of `store`, or with '' the queue; `rows` has CURRENT."""

    file: str
    store: str
    schema: int
    bytes: int
    sha256: str
    rows: dict[str, int]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup holds. `number` tells the order they were taken in, which a clock that jumps does not.

    `active` and `bindings` are those files' text, and so are `purged`, `purged_key` and `purged_texts`, by which what
    was purged is known again.
    """

    id: str
    number: int
    at: int
    label: str
    automatic: bool
    active: str
    bindings: str
    purged: str
    purged_key: str
    purged_texts: str
    parts: tuple[Part, ...]

    @classmethod
    def load(cls, folder: str) -> "Manifest":
        """Read the manifest in `folder`, if its digest fits and it names a backup's files. Raises DamagedFile."""
        path = manifest_path(folder)
        try:
            sound = typed(cls, _intact(parsed(read_file(path)) or {}))
            parts = tuple(Part(**typed(Part, part)) for part in sound["parts"])
            found = cls(**sound | {"parts": parts})
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise DamagedFile(f"{path} was changed or is damaged, so the backup's contents are unknown") from error
        if found.id != os.path.basename(folder):
            raise DamagedFile(f"{path} belongs to backup {found.id[:80]!a}: rename the folder back to that")
        names = dict.fromkeys(part.store for part in parts)
        if [part.file for part in parts] != [part_file(name) for name in names if not name or stores.valid_name(name)]:
            raise DamagedFile(f"{path} lists files that do not belong to a backup")
        return found

    def text(self) -> str:
        """Write the manifest."""
        said = asdict(self)
        return json.dumps(said | {"digest": _own_digest(said)}, ensure_ascii=False, indent=2) + "\n"

    @property
    def stores(self) -> dict[str, Part]:
        """The stores it holds, by name."""
        return {part.store: part for part in self.parts if part.store}

    @property
    def memories(self) -> int:
        """How many memories hold in its stores."""
        return sum(part.rows.get(CURRENT, 0) for part in self.parts)

    @property
    def queue(self) -> Part | None:
        """The queue it holds."""
        return next((part for part in self.parts if not part.store), None)


def part_file(store: str) -> str:
    """Return where the copy of a store, or with '' of the queue, is in a backup's folder."""
    return f"stores/{store}.db" if store else "queue.db"


def backups_path(data: str) -> str:
    """Return the folder that backups are in."""
    return data + "/backups"


def manifest_path(folder: str) -> str:
    """Return the path of a backup's manifest."""
    return folder + "/manifest.json"


def new_id(at: int, label: str) -> str:
    """Name a backup taken at `at` (Unix milliseconds)."""
    stamp = time.strftime(_STAMP, time.gmtime(at / 1000))
    return f"{stamp}-{label}" if label else stamp


def listed(data: str) -> dict[str, Manifest | None]:
    """Return every backup by its id, the last taken first; None for one whose manifest cannot be read."""
    try:
        names = [name for name in os.listdir(backups_path(data)) if _is_id(name)]
    except (FileNotFoundError, NotADirectoryError):
        return {}
    found = {name: _loaded(f"{backups_path(data)}/{name}") for name in names}
    return dict(sorted(found.items(), key=lambda item: (item[1].number if item[1] else 0, item[0]), reverse=True))


def found(data: str, part: str) -> str:
    """Return the id that `part` begins, or that of the last backup for 'latest'. Raises UnknownId, AmbiguousId."""
    ids = list(listed(data))
    named = ids[:1] if part == NEWEST else [part] if part in ids else [name for name in ids if name.startswith(part)]
    if not named:
        none = "there is no backup yet: `memman backup create` makes one"
        raise UnknownId(f"there is no backup {part[:80]!a}: `memman backup list` shows them" if ids else none)
    if len(named) > 1:
        raise AmbiguousId(f"{part} is ambiguous, give more characters: {', '.join(sorted(named)[:5])}")
    return named[0]


def _is_id(name: str) -> bool:
    stamp = name[:_STAMP_LENGTH]
    return len(stamp) == _STAMP_LENGTH and stamp[8] == "T" and stamp[-1] == "Z" and (stamp[:8] + stamp[9:-1]).isdigit()


def _loaded(folder: str) -> Manifest | None:
    try:
        return Manifest.load(folder)
    except DamagedFile:
        return None


def _intact(said: dict[str, Any]) -> dict[str, Any]:
    """Return what a manifest says beside its digest. Raises ValueError where that is not what was written."""
    if said.pop("digest", None) != _own_digest(said):
        raise ValueError("digest")
    return said


def _own_digest(said: dict[str, Any]) -> str:
    """Return the SHA-256 of all that a manifest says but this."""
    return sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def take(
    data: str,
    *,
    label: str = "",
    store: str | None = None,
    automatic: bool = False,
) -> Manifest:
    """Copy the queue and every store, or one, and read it again before it counts as a backup.

    Raises UsageError, UnknownStore, Busy, DamagedFile and CannotWrite.
    """
    if label:
        stores.harmless(label, "label")
    if store is not None and not stores.exists(data, stores.checked(store)):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")
    if not (os.path.exists(queue_path(data)) or stores.names(data)):
        raise UsageError("there is nothing to back up yet")
    with backup_lock(data):
        draft = f"{backups_path(data)}/{_DRAFT}{os.getpid()}"
        sweep(data)
        try:
            return _written(data, draft, label, store, automatic=automatic)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def remove(data: str, name: str) -> None:
    """Throw a backup away; from its first moment on it is listed no more. The caller holds the lock."""
    folder = f"{backups_path(data)}/{name}"
    gone = f"{backups_path(data)}/{_DRAFT}{name}"
    with TranslatedErrors(folder):
        os.rename(folder, gone)
        shutil.rmtree(gone)


def prune(data: str, keep: int) -> list[str]:
    """Throw away all but the last `keep` that the schedule took; return their ids. What a person took stays."""
    with backup_lock(data):
        old = [name for name, manifest in listed(data).items() if manifest and manifest.automatic][keep:]
        for name in old:
            remove(data, name)
    return old


def sweep(data: str) -> None:
    """Remove what a backup that died has left. The caller holds the lock, so nobody is at work on it."""
    with suppress(FileNotFoundError, NotADirectoryError):
        for name in os.listdir(backups_path(data)):
            if name.startswith(_DRAFT):
                shutil.rmtree(f"{backups_path(data)}/{name}", ignore_errors=True)


def _written(data: str, draft: str, label: str, store: str | None, *, automatic: bool) -> Manifest:
    at = now_ms()
    with TranslatedErrors(draft):
        make_folder(draft + "/stores")
    parts = tuple(_parts(data, draft, store))
    for fault in faults(draft, parts):
        raise DamagedFile(
            f"no backup was created: {fault}; see `memman doctor`, or back up a single store with --store"
        )
    before, (purged_keys, purged_texts) = listed(data), kept(data)
    manifest = Manifest(
        id=_free(new_id(at, label), before),
        number=1 + max((one.number for one in before.values() if one), default=0),
        at=at,
        label=label,
        automatic=automatic,
        active=read_file(data + "/active"),
        bindings=read_file(data + "/bindings"),
        purged=read_file(tombstones_path(data)),
        purged_key="\n".join(purged_keys),
        purged_texts="\n".join(purged_texts),
        parts=parts,
    )
    write_file(manifest_path(draft), manifest.text())
    with TranslatedErrors(draft):
        for folder in (draft + "/stores", draft):
            fsync_folder(folder)
        os.rename(draft, f"{backups_path(data)}/{manifest.id}")
        fsync_folder(backups_path(data))
    return manifest


def _parts(data: str, draft: str, store: str | None) -> Iterator[Part]:
    """Copy the queue, and only then look which stores there are."""
    if os.path.exists(queue_path(data)):
        yield copied(queue_path(data), draft)
    for name in stores.names(data):
        if store in {None, name}:
            yield copied(store_path(data, name), draft, name)


def _free(name: str, taken: dict[str, Manifest | None]) -> str:
    """Return `name`, or where it is taken the next with a number."""
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}.{number}"
    return free


def copied(source: str, folder: str, store: str = "") -> Part:
    """Copy a database as it is at one moment; nobody who writes to it waits. Raises DamagedFile and CannotWrite."""
    file = part_file(store)
    target = f"{folder}/{file}"
    with TranslatedErrors(source), closing(open_reader(source)) as db:
        db.execute("BEGIN")
        rows, schema = {CURRENT: holding(db)} if store else {}, int(db.execute("PRAGMA user_version").get)
        fill(target, db)
    return Part(file, store, schema, os.path.getsize(target), digest(target), rows)


def fill(target: str, db: apsw.Connection, mode: str = "DELETE") -> None:
    """Write what `db` holds into a new file; in any other `mode` than WAL nothing lies beside it."""
    with TranslatedErrors(target), closing(open_writer(target)) as copy:
        transcribe(copy, db)
        copy.execute(f"PRAGMA journal_mode={mode}")
    for end in ("-wal", "-shm") if mode != "WAL" else ():
        if os.path.exists(target + end):
            os.remove(target + end)


def holding(db: apsw.Connection) -> int:
    """Count the memories of a store that hold."""
    return int(db.execute("SELECT count(*) FROM memory WHERE status = 'current'").get)


def faults(folder: str, parts: Iterable[Part], *, cheap: bool = False) -> Iterator[str]:
    """Say what is wrong with a backup's databases; with `cheap` only whether they are there, as long as they were."""
    for part in parts:
        fault = _measured(f"{folder}/{part.file}", part) or ("" if cheap else _checked(f"{folder}/{part.file}", part))
        if fault:
            yield f"{part.file} {fault}"


def check(folder: str, parts: Iterable[Part]) -> None:
    """Raise DamagedFile where a part is not sound."""
    for fault in faults(folder, parts):
        raise DamagedFile(f"{folder}/{fault}")


def digest(path: str) -> str:
    """Return a file's SHA-256."""
    with TranslatedErrors(path), open(path, "rb", opener=open_file) as source:
        return file_digest(source, "sha256").hexdigest()


def _measured(path: str, part: Part) -> str:
    try:
        size = os.path.getsize(path)
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return "" if size == part.bytes else f"has {size} bytes and had {part.bytes}"


def _checked(path: str, part: Part) -> str:
    try:
        if digest(path) != part.sha256:
            return "was changed or is damaged: its SHA-256 differs"
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            said = [str(line) for (line,) in db.execute(f"PRAGMA integrity_check({_COMPLAINTS})")]
            return "" if said == ["ok"] else "is damaged: " + " ".join("; ".join(said).split())[:200]
    except MemmanError as error:
        return f"cannot be read: {error}"


@dataclass(frozen=True, slots=True)
class Attempt:
    """When a drain last tried to take a backup (Unix milliseconds, 0 for never), and what was wrong, '' for nothing."""

    at: int = 0
    error: str = ""

    @classmethod
    def last(cls, queue: Queue) -> "Attempt":
        """Read what the queue remembers; what cannot be read never was."""
        return record(cls, queue.meta(_KEY)) or cls()


def interval(settings: Settings) -> int:
    """Return the milliseconds between two backups, 0 where there is no schedule."""
    said = settings["MEMMAN_BACKUP_EVERY"]
    return (BACKUP_WORDS[said] if said in BACKUP_WORDS else int(said[:-1])) * _HOUR_MS


def due(last: Attempt, every: int, now: int) -> bool:
    """Whether it is time; what failed is tried again after an hour."""
    return bool(every) and not 0 <= now - last.at < (min(every, _HOUR_MS) if last.error else every)


def attempt(data: str, queue: Queue, settings: Settings) -> Manifest | None:
    """Take a backup where one is due, and throw away what is too old. Raises what is wrong, once it is remembered."""
    every, now, last = interval(settings), now_ms(), Attempt.last(queue)
    if not due(last, every, now):
        return None
    _remember(queue, Attempt(now, "it was interrupted"))
    try:
        made = take(data, automatic=True)
        prune(data, int(settings["MEMMAN_BACKUP_KEEP"]))
    except Busy:  # a person is at it: the next drain comes soon
        _remember(queue, last)
        return None
    except (MemmanError, OSError) as error:
        _remember(queue, Attempt(now, str(error)))
        raise
    _remember(queue, Attempt(now))
    return made


def _remember(queue: Queue, attempt: Attempt) -> None:
    queue.set_meta(_KEY, json.dumps(asdict(attempt)))
