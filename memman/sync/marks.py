"""What was purged in a data folder, as hosts tell one another: ids and keyed digests, and not a word."""

import json
import re

from memman.clock import now_ms
from memman.config import purged
from memman.config.purged import Tombstones, bury
from memman.sync.folder import Folder, Key, Unreadable, parsed

# The file of each host.
FILE = "purged.age"
_KEY = re.compile(r"[0-9a-f]{64}")
# A digest of a text, or the ids of a note and a memory, or of a note of which all was purged.
_MARK = re.compile(r"[0-9a-f]{32}|[^\s]{1,200} [^\s]{1,200}")


def exchange(data: str, folder: Folder, host: str, key: Key) -> None:
    """Have a data folder know what was purged elsewhere, and the others what was here."""
    keys, digests = purged.kept(data)
    here = {*digests, *(f"{note} {memory}" for note, memory in Tombstones.rows(data))}
    marks = set(here)
    for other in sorted(folder.hosts - {host}):
        its_keys, its_marks = _read(folder, other, key)
        keys += [one for one in its_keys if one not in keys]
        marks |= its_marks
    new = sorted(marks - here)
    if rows := [(note, memory) for note, _, memory in (one.partition(" ") for one in new) if memory]:
        bury(data, rows, now_ms())
    purged.keep(data, keys, [one for one in new if " " not in one])
    if not can_be_read(folder, host, key) or _read(folder, host, key) != (keys, marks):
        folder.put(host, FILE, key.lock(json.dumps({"keys": keys, "marks": sorted(marks)})))


def can_be_read(folder: Folder, host: str, key: Key) -> bool:
    """Whether what a host has purged can be read: each says so, if it is nothing."""
    try:
        key.open(folder.read(host, FILE))
    except Unreadable:
        return False
    return True


def _read(folder: Folder, host: str, key: Key) -> tuple[list[str], set[str]]:
    """Read what a host has purged, without what is no mark; nothing where that cannot be read."""
    try:
        said = parsed(key.open(folder.read(host, FILE)))
        keys, marks = ([one for one in said[name] if isinstance(one, str)] for name in ("keys", "marks"))
    except (Unreadable, KeyError, TypeError):
        return [], set()
    return list(filter(_KEY.fullmatch, keys)), set(filter(_MARK.fullmatch, marks))
