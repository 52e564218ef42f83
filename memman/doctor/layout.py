"""What in the data folder is not of the kind it must be: that is never opened, because a pipe would block."""

import os
import re
import stat
from collections.abc import Iterator

# Paths below the data folder that must be folders, and files.
_FOLDERS = re.compile(r"(data(/[^/.]+)?|bin|logs|sessions|arrivals|removed|backups|sync)")
_FILES = re.compile(
    r"(env|command|schedule|doorbell|heartbeat|owner|active|bindings|shown\.log|late|hung|purged|bin/memman|sync/key"
    r"|(drain|serve|backup|exchange)\.lock|logs/worker\.jsonl(\.\d)?|(queue|data/[^/]+/memman)\.db(-wal|-shm)?)"
)
_KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def amiss(data: str) -> dict[str, str]:
    """Return what is not as it must be, by its path."""
    found = ((path, _fault(data, path)) for path, _ in entries(data)) if os.path.isdir(data) else ()
    return {path: fault for path, fault in found if fault}


def entries(data: str) -> Iterator[tuple[str, os.stat_result]]:
    """Return everything in the data folder, itself too; what goes meanwhile is left out, and no link is followed."""
    yield data, os.stat(data)
    for folder, folders, files in os.walk(data):
        for name in (*folders, *files):
            try:
                yield f"{folder}/{name}", os.lstat(f"{folder}/{name}")
            except OSError:
                continue


def _fault(data: str, path: str) -> str:
    name = path[len(data) + 1 :]
    right = "a file" if _FILES.fullmatch(name) else "a folder" if not name or _FOLDERS.fullmatch(name) else ""
    try:
        info = os.stat(path)
    except OSError:
        return "is a broken link" if right and os.path.islink(path) else ""
    kind = next((said for test, said in _KINDS if test(info.st_mode)), "a device")
    if right and kind != right:
        return f"is {kind} and should be {right}"
    if kind not in {"a file", "a folder"}:
        return f"is {kind}"
    needed = os.R_OK | (os.W_OK if os.access(data, os.W_OK) else 0) | (os.X_OK if kind == "a folder" else 0)
    if right and info.st_uid == os.geteuid() and not os.access(path, needed):
        return f"is not readable and writable for its owner (mode {stat.S_IMODE(info.st_mode):04o})"
    return ""
