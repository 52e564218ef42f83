"""Until when facts hold, as the caller says or the statement itself, and the files of the work tree that they name."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memman.config.history import blob, tracked
from memman.config.repository import repository
from memman.model.ending import ends
from memman.model.passing import passing
from memman.model.records import Fact, Note
from memman.model.worth import DAY_MS

# Names looked for in a note, and files kept of a fact.
_LOOKED_FOR, MOST = 60, 8
_NAME = re.compile(r"[\w@+.][\w@+./-]*\w")


def dated(note: Note, facts: Sequence[Fact], passing_days: int) -> tuple[Fact, ...]:
    """Give each fact its end, where it has one; what is the rest of an older memory has none.

    What says that it holds only for now, and names no date, ends after `passing_days`; with 0 never.
    """
    return tuple(
        fact if fact.left_of else replace(fact, ends_at=note.hints.ends_at or _end(note, fact.text, passing_days))
        for fact in facts
    )


def _end(note: Note, text: str, passing_days: int) -> int | None:
    if told := ends(text, note.queued_at):
        return told
    return note.queued_at + passing_days * DAY_MS if passing_days and passing(text) else None


def files(note: Note, facts: Sequence[Fact]) -> list[dict[str, str]]:
    """Return, for each fact, the tracked files that it names, each with the id of what it holds now."""
    cwd = note.provenance.cwd
    names = [_names(fact.text) for fact in facts]
    place = repository(cwd) if cwd and any(names) else None
    if place is None:
        return [{} for _ in facts]
    looked_for = list(dict.fromkeys(name for some in names for name in some))[:_LOOKED_FOR]
    known = tracked(place, looked_for, os.path.relpath(cwd, place.root))
    return [blobs(place.root, [known[name] for name in some if name in known][:MOST]) for some in names]


def blobs(root: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the id of what each file below `root` holds, of those that can be read."""
    held = {path: blob(f"{root}/{path}") for path in paths}
    return {path: found for path, found in held.items() if found}


def _names(text: str) -> list[str]:
    """Return what may name a file, what has a dot or a slash first; other names of files begin with a capital."""
    found = (os.path.normpath(name) for name in _NAME.findall(text))
    names = [name for name in dict.fromkeys(found) if not name.startswith(("..", "/"))]
    telling = [name for name in names if "." in name or "/" in name]
    return telling + [name for name in names if name[0].isupper() and name not in telling]
