"""The file of rules that hooks read, and the hits that they left: written and counted outside of any turn.

The file also says which commands memories of the user's speak of.
"""

import json
import os
import re
from collections import Counter
from collections.abc import Callable
from contextlib import closing, suppress
from typing import Any

from memman.config.places import (
    hits_path,
    read_file,
    rules_path,
    store_path,
    text_at,
    write_file,
)
from memman.config.stores import names, valid_name
from memman.model.errors import MemmanError
from memman.model.rule import INFORM
from memman.model.terms import STOPWORDS
from memman.sqlite import TranslatedErrors
from memman.store.sqlite import rules
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.topics import heaviest

# What a hook has to know of a rule.
_TOLD = ("uid", "text", "pattern", "action", "repository", "path", "ends_at", "snoozed_until")
Hits = dict[str, dict[str, list[int]]]
# Memories of a store that are looked through: of its preferences, and of all else.
_LOOKED_THROUGH = 200
# A command that more memories speak of tells nothing.
_MOST = 3
# Programs that tell something by themselves, and those that do so with the word behind them.
_ALONE = """
    alembic ansible bun cypress eslint flake8 gradle helm jest kubectl mypy npm npx nvm pip pip3 pipenv pipx playwright
    pnpm podman poetry prettier psql pytest redis-cli rspec ruff sqlite3 terraform tox tsc uv vitest webpack yarn
""".split()
_WITH_NEXT = (
    "apt aws brew bundle cargo docker dotnet gcloud gem gh git make mvn node php python python3 rails rake".split()
)
_PROGRAM = re.compile(rf"(?<![\w./-])({'|'.join(_ALONE + _WITH_NEXT)})(?: (?!sure\b)([a-z][\w:.-]*\w))?(?![\w-])")
_CODE = re.compile(r"`([\w./@:+=-]+(?: [\w./@:+=-]+)+)`")
# An option, a path, a file, a name with signs in it.
_NAME = re.compile(
    r"(?<![\w/.:-])(?:--[a-z][\w-]+|[\w.~-]*/[\w.-][\w./-]*|(?:[a-z\d_-]+|[A-Z_-]+)\.[a-z]{1,4}|\w+_\w+)(?![\w(]|:/|\.\w)"
)
_SHORTEST = 4


def of(data: str, store: str) -> list[dict[str, Any]]:
    """Return the rules of a store, the oldest first."""
    return _asked(data, store, rules.listed)


def _asked(data: str, store: str, read: Callable[[SqliteReader], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    path = store_path(data, store)
    with TranslatedErrors(path):
        reader = SqliteReader.open(path)
        if reader is None:
            return []
        with closing(reader):
            return read(reader)


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
        return _asked(data, store, _told_of)
    except MemmanError:
        return published(data, store)


def _told_of(reader: SqliteReader) -> list[dict[str, Any]]:
    """Return the rules, and one without a text for each command that a memory of the user's speaks of."""
    told = [{name: rule[name] for name in _TOLD} for rule in rules.listed(reader)]
    rows = [row for wishes in (True, False) for row in heaviest(reader, ("user",), _LOOKED_THROUGH, wishes=wishes)]
    spoken = {row.uid: commands_in(row.text) for row in rows}
    counted = Counter(pattern for patterns in spoken.values() for pattern in patterns)
    blank = dict.fromkeys(_TOLD) | {"text": "", "action": INFORM, "repository": "", "path": ""}
    for uid, patterns in spoken.items():
        told += [blank | {"uid": uid, "pattern": one} for one in sorted(patterns) if counted[one] <= _MOST]
    return told


def commands_in(text: str) -> set[str]:
    """Return patterns of the commands, options and files that a text names."""
    found = set()
    for code in _CODE.findall(text):
        words = code.split()
        options = [at for at, word in enumerate(words) if word[:1] == "-"]
        found.add(" ".join(words[: options[0]] if options else words))
    for program, word in _PROGRAM.findall(text):
        if word and word not in STOPWORDS:
            found.add(f"{program} {word}")
        elif program in _ALONE:
            found.add(program)
    names = [name.strip("./~") for name in _NAME.findall(text)]
    found |= {name if name[:1] == "-" else f"* *{name}*" for name in names if len(name) >= _SHORTEST}
    return found - {""}


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


def _read(path: str) -> Hits:
    found: Hits = {}
    for line in text_at(path).split("\n"):
        at, store, *uids = (*line.split(), "", "")
        # A line may be half-written: the disk was full, or the power went.
        if at.isdecimal() and valid_name(store):
            for uid in filter(None, uids):
                found.setdefault(store, {}).setdefault(uid, []).append(int(at))
    return found
