"""Append one note: the whole write side of the agent's turn. Safe on the hot path."""

import os
import time

from memman.config.detached import ask
from memman.config.ground import tread
from memman.config.places import queue_path
from memman.queue.schema import open_queue
from memman.queue.seal import SEALED, digest, teach
from memman.sqlite import Guard, Transaction

MAX_BYTES = 65_536

# The newest note of the store that still waits.
_NEWEST = "FROM note WHERE store = :store AND state IN ('pending', 'running') ORDER BY id DESC LIMIT 1"
_INSERT = f"""
INSERT INTO note(uid, store, text, category, importance, entities, replaces, source, agent, session, cwd,
                 repository, revision, host, user, queued_at, changed_at, channel, reply, shown, digest)
SELECT :uid, :store, :text, :category, :importance, :entities, :replaces, :source, :agent, :session, :cwd,
       :repository, :revision, :host, :user, :queued_at, :queued_at, :channel, :reply, :shown,
       {digest(":" + name for name in SEALED)}
WHERE (:text, :reply, :replaces) IS NOT (SELECT text, reply, replaces {_NEWEST})
"""
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
    only a turn has may be left out. Where the newest note of the store still waits
    and says the same, its uid is returned; what was said before another note is
    said again. Asks for a drain.
    """
    now = time.time_ns() // 1_000_000
    row = _NOTE | {name: _storable(value) for name, value in note.items()} | {"uid": new_uid(now), "queued_at": now}
    tread(data)
    path = queue_path(data)
    with Guard(path):
        db = open_queue(path)
        teach(db)
        with Transaction(db):
            db.execute(_INSERT, row)
            fresh = db.changes() == 1
            uid = row["uid"] if fresh else db.execute(f"SELECT uid {_NEWEST}", {"store": row["store"]}).get
        db.close()
    ask(data)
    return str(uid), fresh
