"""The file of rules that hooks read, and the hits that they left: written and counted outside of any turn."""

import json
import os
from contextlib import closing, suppress
from typing import Any

from memman.config.places import (
    HITS_BYTES,
    append_line,
    hits_path,
    read_file,
    rules_path,
    store_path,
    text_at,
    write_file,
)
from memman.config.stores import names, valid_name
from memman.model.errors import MemmanError
from memman.sqlite import TranslatedErrors
from memman.store.sqlite import rules
from memman.store.sqlite.reader import SqliteReader

# What a hook has to know of a rule.
_TOLD = ("uid", "text", "pattern", "action", "repository", "path", "ends_at", "snoozed_until")
Hits = dict[str, dict[str, list[int]]]


def of(data: str, store: str) -> list[dict[str, Any]]:
    """Return the rules of a store, the oldest first."""
    path = store_path(data, store)
    with TranslatedErrors(path):
        reader = SqliteReader.open(path)
        if reader is None:
            return []
        with closing(reader):
            return rules.listed(reader)


def publish(data: str) -> None:
    """Have the file of rules say what the stores do, unread ones as before. Raises CannotWrite."""
    told = {store: found for store in names(data) if (found := _told(data, store))}
    path = rules_path(data)
    text = json.dumps({"stores": told}, ensure_ascii=False) + "\n" if told else ""
    if text_at(path) == text:
        return
    if text:
        write_file(path, text)
        return
    with suppress(FileNotFoundError):
        os.unlink(path)


def _told(data: str, store: str) -> list[dict[str, Any]]:
    try:
        found = of(data, store)
    except MemmanError:
        found = published(data, store)
    return [{name: rule[name] for name in _TOLD} for rule in found]


def published(data: str, store: str) -> list[dict[str, Any]]:
    """Return the rules of a store as hooks know them. Raises CannotWrite where the file may not be read."""
    text = read_file(rules_path(data))
    found: list[dict[str, Any]] = json.loads(text)["stores"].get(store, []) if text else []
    return found


def hits(data: str) -> Hits:
    """Return when the rules of each store fired, as far as that is not counted yet."""
    return _read(hits_path(data))


def taken_hits(data: str) -> Hits:
    """Take the record of what fired."""
    path = hits_path(data)
    taken = path + ".taken"
    with suppress(OSError):
        os.replace(path, taken)
    found = _read(taken)
    with suppress(OSError):
        os.remove(taken)
    return found


def put_back_hits(data: str, store: str, found: dict[str, list[int]]) -> None:
    """Append again what was taken and could not be counted."""
    for uid, times in found.items():
        for at in times:
            append_line(hits_path(data), f"{at} {store} {uid}\n", HITS_BYTES)


def _read(path: str) -> Hits:
    found: Hits = {}
    for line in text_at(path).split("\n"):
        at, store, *uids = (*line.split(), "", "")
        # A line may be half-written: the disk was full, or the power went.
        if at.isdecimal() and valid_name(store):
            for uid in filter(None, uids):
                found.setdefault(store, {}).setdefault(uid, []).append(int(at))
    return found
