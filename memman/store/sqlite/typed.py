"""What the user typed in the turn that a memory is from: on this machine only, found by nothing, never exported."""

from collections.abc import Iterable
from hashlib import blake2b

import apsw

from memman.secrets import masked, screened
from memman.sqlite import LISTED

# Characters kept of a text: of its end.
MOST = 600


def keep(db: apsw.Connection, memories: Iterable[int], text: str) -> None:
    """Keep a text, without secrets, as what memories are from; in the transaction its caller holds."""
    kept = screened(text)[-MOST:]
    rows = [(memory, blake2b(kept.encode("utf-8", "replace"), digest_size=16).digest()) for memory in memories]
    for row in rows:
        db.execute("INSERT INTO typed VALUES (?, ?) ON CONFLICT DO NOTHING", (row[1], kept))
        db.execute("INSERT OR REPLACE INTO typed_for VALUES (?, ?)", row)


def behind(db: apsw.Connection, memory: int) -> str:
    """Return what the user typed, '' where that was not kept, as in a store of schema 6."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'typed_for'").get:
        return ""
    sql = "SELECT text FROM typed JOIN typed_for f USING (digest) WHERE f.memory = ?"
    return masked(db.execute(sql, (memory,)).get or "")


def drop(db: apsw.Connection, memories: str) -> None:
    """Delete what the user typed in the turns that `memories`, a JSON list of rows, are from, whatever else is."""
    of_them = f"SELECT digest FROM typed_for WHERE memory {LISTED}"
    gone = [(digest,) for (digest,) in db.execute(of_them, (memories,)).fetchall()]
    db.executemany("DELETE FROM typed_for WHERE digest = ?", gone)
    db.executemany("DELETE FROM typed WHERE digest = ?", gone)
