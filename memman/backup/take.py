"""Taking a backup and throwing it away: a folder is listed whole, or not at all."""

import getpass
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

from memman import __version__
from memman.backup.copy import copied, faults
from memman.backup.lock import backup_lock
from memman.backup.manifest import Manifest, Part, backups_path, listed, manifest_path, new_id
from memman.backup.steps import Progress, told, unseen
from memman.clock import now_ms
from memman.config import stores
from memman.config.env import Settings
from memman.config.places import make_folder, queue_path, read_file, store_path, write_file
from memman.model.errors import DamagedFile, UnknownStore, UsageError
from memman.sqlite import Guard

_DRAFT = ".draft-"


def take(
    data: str,
    *,
    label: str = "",
    store: str | None = None,
    automatic: bool = False,
    progress: Progress = unseen,
) -> Manifest:
    """Copy the queue and every store, or one; what was written is read again before it counts as a backup.

    `progress` is told (databases copied or checked, of how many).
    Raises UsageError, UnknownStore, Busy, DamagedFile and CannotWrite.
    """
    if label and not stores.valid_name(label):
        raise UsageError(f"label {label[:40]!a} is not allowed: use 1 to 64 letters, digits, '-' or '_'")
    if store is not None and not stores.exists(data, stores.checked(store)):
        raise UnknownStore(f"there is no store named {store!r}: `memman store list` shows them")
    if not (os.path.exists(queue_path(data)) or stores.names(data)):
        raise UsageError("there is nothing to back up yet")
    with backup_lock(data):
        draft = f"{backups_path(data)}/{_DRAFT}{os.getpid()}"
        sweep(data)
        try:
            return _written(data, draft, label, store, progress, automatic=automatic)
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise


def remove(data: str, name: str) -> None:
    """Throw a backup away; from its first moment on it is listed no more. The caller holds the lock."""
    folder = f"{backups_path(data)}/{name}"
    gone = f"{backups_path(data)}/{_DRAFT}{name}"
    with Guard(folder):
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


def _written(data: str, draft: str, label: str, store: str | None, progress: Progress, *, automatic: bool) -> Manifest:
    at = now_ms()
    with Guard(draft):
        make_folder(draft + "/stores")
    steps = count(1)
    parts = tuple(told(_parts(data, draft, store), steps, 2 * (1 + len(stores.names(data))), progress))
    for fault in faults(draft, told(parts, steps, 2 * len(parts), progress)):
        raise DamagedFile(
            f"no backup was created: {fault}; see `memman doctor`, or back up a single store with --store"
        )
    before = listed(data)
    manifest = Manifest(
        id=_free(new_id(at, label), before),
        number=1 + max((one.number for one in before.values() if one), default=0),
        at=at,
        label=label,
        automatic=automatic,
        taken_by=f"{_user()}@{socket.gethostname()}",
        memman=__version__,
        keys=tuple(sorted(Settings.read(data).said)),
        active=read_file(data + "/active"),
        bindings=read_file(data + "/bindings"),
        parts=parts,
    )
    write_file(manifest_path(draft), manifest.text())
    with Guard(draft):
        for folder in (draft + "/stores", draft):
            sync(folder)
        os.rename(draft, f"{backups_path(data)}/{manifest.id}")
        sync(backups_path(data))
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


def sync(folder: str) -> None:
    """Have the disk keep the names in a folder."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return str(os.geteuid())
