"""A note's row as it is queued. Safe on the hot path."""

import time

from memman.model.uid import new_uid
from memman.secrets import screened

# What only some notes have: a turn, and one of which somebody says whose it is.
_OF_SOME = {"channel": "note", "reply": "", "shown": "", "scope": "", "visibility": ""}


def entry(note: "dict[str, str | int | None]") -> "dict[str, str | int | None]":
    """Return what is queued of a note: all its columns without secrets, with a new uid and the time."""
    now = time.time_ns() // 1_000_000
    return _OF_SOME | {name: _storable(value) for name, value in note.items()} | {"uid": new_uid(now), "queued_at": now}


def _storable(value: "str | int | None") -> "str | int | None":
    """Take out secrets, and what is no text in a folder's name or a variable: it must not cost the note."""
    return screened(value) if isinstance(value, str) else value
