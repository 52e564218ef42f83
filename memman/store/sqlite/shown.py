"""Where memories were shown: a row for each memory, session and way, and how often it was of use."""

from collections.abc import Iterable
from typing import Any

import apsw

from memman.config.shown import RECALL, Showing

# About a year of heavy use; the oldest rows go.
MOST_ROWS = 200_000

_COUNT = """
INSERT INTO shown(memory, session, way, agent, at, times, tokens)
SELECT id, ?2, ?3, ?4, ?5, 1, ?6 FROM memory WHERE uid = ?1
ON CONFLICT DO UPDATE SET times = times + 1, tokens = tokens + excluded.tokens, at = max(at, excluded.at),
    agent = iif(agent = excluded.agent, agent, '')
RETURNING memory, times
"""
_BOUND = "DELETE FROM shown WHERE at <= (SELECT at FROM shown ORDER BY at DESC LIMIT 1 OFFSET ?)"


def count(db: apsw.Connection, showings: Iterable[Showing]) -> None:
    """Add what was shown; a memory is of use once in each session that asked, or each time where none is known."""
    used = []
    for one in showings:
        for uid, cost in one.tokens.items():
            row = db.execute(_COUNT, (uid, one.session, one.way, one.agent, one.at, cost)).fetchone()
            if row and one.way == RECALL and (row[1] == 1 or not one.session):
                used.append((row[0],))
    db.executemany("UPDATE memory SET uses = uses + 1 WHERE id = ?", used)


def beyond(db: apsw.Connection, most: int = MOST_ROWS) -> bool:
    """Whether there are more rows than are kept."""
    return bool(db.execute("SELECT count(*) FROM shown").get > most)


def bound(db: apsw.Connection, most: int = MOST_ROWS) -> None:
    """Keep the newest rows."""
    if beyond(db, most):
        db.execute(_BOUND, (most,))


def of(db: apsw.Connection, memory: int) -> list[dict[str, Any]]:
    """Return where a memory was shown, the newest first."""
    names = ("way", "session", "agent", "times", "tokens", "at")
    rows = db.execute(f"SELECT {', '.join(names)} FROM shown WHERE memory = ? ORDER BY at DESC", (memory,))
    return [dict(zip(names, row, strict=True)) for row in rows]


def costs(db: apsw.Connection, since: int) -> list[dict[str, Any]]:
    """Return by way and session how many memories were shown, last since a moment, and their tokens, newest first."""
    names = ("way", "session", "agent", "memories", "times", "tokens", "at")
    sql = (
        "SELECT way, session, agent, count(*), sum(times), sum(tokens), max(at) FROM shown WHERE at >= ?"
        " GROUP BY way, session, agent ORDER BY max(at) DESC, way, session"
    )
    return [dict(zip(names, row, strict=True)) for row in db.execute(sql, (since,))]
