"""What the data folder holds, and of which kind each must be: what is not of its kind is never opened."""

import os
import stat
from collections.abc import Iterator

from memman.config import stores
from memman.config.places import store_path
from memman.sqlite import COMPANIONS

_FOLDERS = "data bin logs sessions arrivals removed backups sync".split()
_FILES = """
env command schedule doorbell heartbeat owner active bindings shown.log shown.log.taken late hung
drain.lock serve.lock
backup.lock exchange.lock purged purged.key purged.texts
bin/memman sync/key logs/worker.jsonl logs/worker.jsonl.1 logs/worker.jsonl.2
""".split()
_FILE_KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)
# What may be left alone whatever it is called.
_HARMLESS = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)


def amiss(data: str) -> dict[str, str]:
    """Return what is not as it must be, by its path."""
    if not os.path.isdir(data):
        return {}
    writable = os.access(data, os.W_OK)
    wrong = {path: _fault(path, folder=folder, writable=writable) for path, folder in _known(data)}
    strange = {path: f"is {_kind(info.st_mode)}" for path, info in entries(data) if not _harmless(info.st_mode)}
    return strange | {path: fault for path, fault in wrong.items() if fault}


def links(data: str) -> list[str]:
    """Return the known places that are links to somewhere outside of the data folder."""
    inside = os.path.realpath(data) + "/"
    return [path for path, _ in _known(data) if os.path.islink(path) and not os.path.realpath(path).startswith(inside)]


def entries(data: str) -> Iterator[tuple[str, os.stat_result]]:
    """Return everything in the data folder, itself too; what goes meanwhile is left out, and no link is followed."""
    yield data, os.stat(data)
    for folder, folders, files in os.walk(data):
        for name in (*folders, *files):
            try:
                yield f"{folder}/{name}", os.lstat(f"{folder}/{name}")
            except OSError:
                continue


def _known(data: str) -> Iterator[tuple[str, bool]]:
    """Return each place that memman uses, and whether it is a folder."""
    yield from ((f"{data}/{name}", True) for name in _FOLDERS)
    yield from ((f"{data}/{name}", False) for name in _FILES)
    yield from ((f"{data}/queue.db{end}", False) for end in COMPANIONS)
    for name in _stores(f"{data}/data"):
        yield f"{data}/data/{name}", True
        yield from ((store_path(data, name) + end, False) for end in COMPANIONS)


def _stores(folder: str) -> list[str]:
    try:
        return sorted(filter(stores.valid_name, os.listdir(folder)))
    except OSError:
        return []


def _fault(path: str, *, folder: bool, writable: bool) -> str:
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ""
    try:
        info = os.stat(path)
    except OSError:
        return "is a broken link" if stat.S_ISLNK(mode) else ""
    if not (stat.S_ISDIR if folder else stat.S_ISREG)(info.st_mode):
        return f"is {_kind(info.st_mode)} and should be {'a folder' if folder else 'a file'}"
    needed = os.R_OK | (os.W_OK if writable else 0) | (os.X_OK if folder else 0)
    if info.st_uid == os.geteuid() and not os.access(path, needed):
        return f"is not readable and writable for its owner (mode {stat.S_IMODE(info.st_mode):04o})"
    return ""


def _kind(mode: int) -> str:
    return next((name for test, name in _FILE_KINDS if test(mode)), "a device")


def _harmless(mode: int) -> bool:
    return any(test(mode) for test in _HARMLESS)
