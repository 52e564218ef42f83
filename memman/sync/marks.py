"""What was purged in a data folder, as hosts tell one another: ids and keyed digests, and not a word.

Of each the last to say whether it is to stay away has its way, since a person may bring it back.
"""

import json
import re
from typing import Any

from memman.config import buried
from memman.config.places import read_file, write_file
from memman.config.synced import sync_path
from memman.config.tombstones import WHOLE, Tombstones, bury, dig_up
from memman.sync.folder import Folder, Key, Unreadable, parsed

# The file of each host.
FILE = "purged.age"
_KEY = re.compile(r"[0-9a-f]{64}")
# A digest of a text, or the ids of a note and a memory, or of a note of which all was purged.
_MARK = re.compile(r"[0-9a-f]{32}|[^\s]{1,200} [^\s]{1,200}")
# Of a mark: when it was made or taken away, and whether it is there.
Marks = dict[str, list[int]]


def exchange(data: str, folder: Folder, host: str, key: Key, now: int) -> None:
    """Have a data folder know what was purged elsewhere and what was brought back, and the others what was here."""
    keys, digests = buried.kept(data)
    here = {*digests, *(f"{note} {memory}" for note, memory in Tombstones.rows(data))}
    marks = _noticed(_kept(read_file(_path(data))), here, now)
    for other in sorted(folder.hosts - {host}):
        its_keys, its_marks = _read(folder, other, key)
        keys += [one for one in its_keys if one not in keys]
        marks |= {one: said for one, said in its_marks.items() if said > marks.get(one, [0, 0])}
    _apply(data, here, {one for one, (_, there) in marks.items() if there}, keys, now)
    text = json.dumps({"keys": keys, "marks": marks}, sort_keys=True)
    write_file(_path(data), text + "\n")
    if not can_be_read(folder, host, key) or _read(folder, host, key) != (keys, marks):
        folder.put(host, FILE, key.lock(text))


def can_be_read(folder: Folder, host: str, key: Key) -> bool:
    """Whether what a host has purged can be read: each says so, if it is nothing."""
    try:
        key.open(folder.read(host, FILE))
    except Unreadable:
        return False
    return True


def _noticed(marks: Marks, here: set[str], now: int) -> Marks:
    """Add what has been purged or brought back here since."""
    for one in here | marks.keys():
        at, there = marks.get(one, [0, 0])
        if bool(there) != (one in here):
            marks[one] = [max(now, at + 1), int(one in here)]
    return marks


def _apply(data: str, here: set[str], there: set[str], keys: list[str], now: int) -> None:
    new, back = there - here, here - there
    if rows := [(note, memory) for note, _, memory in (one.partition(" ") for one in sorted(new)) if memory]:
        bury(data, rows, now)
    buried.keep(data, keys, sorted(one for one in new if " " not in one))
    if back:
        gone = [one.partition(" ")[::2] for one in back if " " in one]
        dig_up(data, {m for _, m in gone if m != WHOLE}, {note for note, m in gone if m == WHOLE})
        buried.let_go(data, {one for one in back if " " not in one})


def _read(folder: Folder, host: str, key: Key) -> tuple[list[str], Marks]:
    """Read what a host has purged; nothing where that cannot be read: it is written anew by its host."""
    try:
        text = key.open(folder.read(host, FILE))
        return [one for one in parsed(text).get("keys", []) if isinstance(one, str) and _KEY.fullmatch(one)], _kept(
            text
        )
    except (Unreadable, TypeError):
        return [], {}


def _kept(text: str) -> Marks:
    """Read marks, without what is none."""
    try:
        found: Any = parsed(text).get("marks") if text else {}
        return {one: [int(at), int(there)] for one, (at, there) in found.items() if _MARK.fullmatch(one)}
    except (Unreadable, ValueError, TypeError, AttributeError, OverflowError):
        return {}


def _path(data: str) -> str:
    return sync_path(data) + "/purged"
