"""Until when facts hold, as the caller says or the statement itself, and the files of the work tree that they name."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memman.config.history import blob, tracked
from memman.config.repository import repository
from memman.config.scope import THERE
from memman.model.ending import ends
from memman.model.records import Fact, Note

# Names looked for in a note, and files kept of a fact.
_LOOKED_FOR, MOST = 60, 8
_NAME = re.compile(r"[\w@+.][\w@+./-]*\w")


def dated(note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Give each fact its end, where it has one; what is the rest of an older memory has none."""
    return tuple(
        fact if fact.left_of else replace(fact, ends_at=note.hints.ends_at or ends(fact.text, note.queued_at))
        for fact in facts
    )


def files(note: Note, facts: Sequence[Fact]) -> list[dict[str, str]]:
    """Return, for each fact, the tracked files that it names, each with the id of what it holds now."""
    cwd = note.provenance.cwd
    names = [[] if fact.scope.startswith(THERE) else _names(fact.text) for fact in facts]
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
