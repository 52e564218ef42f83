"""Append one note: the whole write side of the agent's turn. Safe on the hot path."""

import os
import time

from memman.config.places import queue_path
from memman.config.schedule import ring
from memman.queue.schema import open_queue
from memman.sqlite import Guard, Transaction

MAX_BYTES = 65_536

_INSERT = """
INSERT INTO note(uid, store, text, category, importance, entities, replaces, source, agent, session, cwd,
                 repository, revision, host, user, queued_at, changed_at, channel, reply, shown)
VALUES (:uid, :store, :text, :category, :importance, :entities, :replaces, :source, :agent, :session, :cwd,
        :repository, :revision, :host, :user, :queued_at, :queued_at, :channel, :reply, :shown)
ON CONFLICT DO NOTHING
"""
_SAME = """
SELECT uid FROM note WHERE store = :store AND text = :text AND reply = :reply AND replaces = :replaces
AND state IN ('pending', 'running')
"""
_SAMENESS = ("store", "text", "reply", "replaces")
# What only a turn has.
_NOTE = {"channel": "note", "reply": "", "shown": ""}


def new_uid(now_ms: int) -> str:
    """Make a UUIDv7 (RFC 9562) as 32 hexadecimal digits: sortable by time, 74 bits of chance."""
    chance = int.from_bytes(os.urandom(10), "big")
    value = now_ms << 80 | 7 << 76 | (chance >> 62 & 0xFFF) << 64 | 2 << 62 | chance & (1 << 62) - 1
    return f"{value:032x}"


def _storable(value: "str | int | None") -> "str | int | None":
    """Replace what is no text in a folder's name or a variable: it must not cost the note."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def append(data: str, note: "dict[str, str | int | None]") -> tuple[str, bool]:
    """Queue `note` and return (uid, whether it is new) once it is on disk.

    `note` holds every column named in the insert but uid and queued_at; what
    only a turn has may be left out. The same text for the same store that still
    waits is one note: its uid is returned. Rings the doorbell.
    """
    now = time.time_ns() // 1_000_000
    row = _NOTE | {name: _storable(value) for name, value in note.items()} | {"uid": new_uid(now), "queued_at": now}
    path = queue_path(data)
    with Guard(path):
        db = open_queue(path)
        with Transaction(db):
            db.execute(_INSERT, row)
            fresh = db.changes() == 1
            uid = row["uid"] if fresh else db.execute(_SAME, {k: row[k] for k in _SAMENESS}).get
        db.close()
    ring(data)
    return str(uid), fresh
