"""What of a store waits for a person beside what is held back and what is maybe replaced, and why it does."""

import json
from typing import TYPE_CHECKING

from memman.store.sqlite.unconfirmed import UNCONFIRMED

if TYPE_CHECKING:
    from memman.store.sqlite.reader import SqliteReader

_WISHES = "('preference', 'decision')"


def wishes(reader: "SqliteReader") -> list[int]:
    """Return the unconfirmed memories that read like a preference or a decision, newest first."""
    sql = f"SELECT m.id FROM memory m WHERE m.status = 'current' AND m.category IN {_WISHES} AND {UNCONFIRMED}"
    return [memory for (memory,) in reader.db.execute(f"{sql} ORDER BY m.id DESC")]


def contradicted(reader: "SqliteReader") -> dict[int, int]:
    """Return what an unconfirmed memory took the place of though it was no agent's guess itself, newest first."""
    sql = (
        "SELECT old.id, m.id FROM memory m JOIN memory old ON old.superseded_by = m.id AND old.status = 'superseded'"
        f" WHERE m.status = 'current' AND {UNCONFIRMED} ORDER BY m.id DESC, old.id DESC"
    )
    found = dict(reader.db.execute(sql))
    guesses = reader.unconfirmed(found)
    return {old: new for old, new in found.items() if old not in guesses}


def why_against(reader: "SqliteReader", new: str, old: str) -> str:
    """Return the reason that the log gives for what the memory `new` last said it contradicts the memory `old`."""
    sql = (
        "SELECT after ->> '$.why' FROM log WHERE memory = ? AND verb = 'contradict' AND after ->> '$.against' = ?"
        " ORDER BY id DESC LIMIT 1"
    )
    return str(reader.db.execute(sql, (new, old)).get or "")


def why(reader: "SqliteReader", uid: str) -> str:
    """Return the reason that the log gives for what happened to a memory last, '' for none."""
    sql = "SELECT after FROM log WHERE memory = ? AND verb IN ('hold', 'doubt', 'supersede') ORDER BY id DESC LIMIT 1"
    told = json.loads(reader.db.execute(sql, (uid,)).get or "{}")
    return str(told.get("why", ""))
