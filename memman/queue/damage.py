"""Notes that the disk has changed: found by their digest, made readable, kept apart."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from memman.queue.seal import DIGEST, SOUND, TEXTS, register_functions

DAMAGED = "damaged on disk: check its text and remember it again"
STATES = ("pending", "running", "done", "parked")


def register_reading_functions(db: apsw.Connection) -> None:
    """Give a connection the SQL functions that find damaged notes and read them."""
    register_functions(db)
    db.create_scalar_function("note_text", lambda *raw: _text(raw[0]), 1, deterministic=True)


def _text(raw: Any) -> str | None:
    return None if raw is None else str(raw.decode("utf-8", "replace"))


def readable(column: str) -> str:
    """Write the SQL for a column of a note whose bytes may be no text."""
    return f"note_text(CAST({column} AS BLOB))" if column in TEXTS else column


# What is set where a note is parked as damaged. Its digest stays, so that it never passes for sound.
PARKED = f"state = 'parked', error = '{DAMAGED}', " + ", ".join(f"{name} = {readable(name)}" for name in TEXTS)


def damaged(db: apsw.Connection) -> list[str]:
    """Return the uids of waiting notes that do not say what was queued."""
    register_reading_functions(db)
    sql = f"SELECT {readable('uid')} FROM note WHERE state IN ('pending', 'running') AND NOT {SOUND} ORDER BY id"
    return [str(uid) for (uid,) in db.execute(sql)]


@contextmanager
def resealed(db: apsw.Connection, row: int) -> Iterator[None]:
    """Change a note in the caller's transaction: it is sound afterwards if it was before."""
    sound = db.execute(f"SELECT {SOUND} FROM note WHERE id = ?", (row,)).get
    yield
    if sound:
        db.execute(f"UPDATE note SET digest = {DIGEST} WHERE id = ?", (row,))
