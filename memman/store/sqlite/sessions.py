"""Sessions that left notes in a store, and where memories were shown: a row for each memory, session and way."""

from collections.abc import Iterable
from typing import Any

import apsw

from memman.config.shown import RECALL, Showing

_NAMES = ("session", "agent", "repository", "began", "last", "notes", "made", "shown", "tokens")
_SQL = """
SELECT session, max(agent), max(repository), min(began), max(last), sum(notes), sum(made), sum(shown), sum(tokens)
FROM (
    SELECT session, agent, repository, min(at) AS began, max(at) AS last, count(*) AS notes,
        sum((SELECT count(*) FROM memory m WHERE substr(m.note, -8) = substr(r.note, -8) AND m.note = r.note
            AND m.status <> 'forgotten')) AS made,
        0 AS shown, 0 AS tokens
    FROM receipt r WHERE session <> '' GROUP BY session
    UNION ALL
    SELECT session, agent, '', min(at), max(at), 0, 0, count(DISTINCT memory), sum(tokens)
    FROM shown WHERE session <> '' GROUP BY session
)
GROUP BY session ORDER BY max(last) DESC, session
"""


# A pause that parts one sitting from the next.
_APART_MS = 6 * 3_600_000
_MOMENTS = """
SELECT at FROM receipt WHERE session <> ?1 OR session = ''
UNION ALL SELECT at FROM shown WHERE session <> ?1 OR session = '' ORDER BY at DESC
"""
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


def sitting(db: apsw.Connection, other: str) -> tuple[int, int] | None:
    """Return when the last sitting began and ended: what was stored and shown with no long pause, but by `other`."""
    began = ended = 0
    for (at,) in db.execute(_MOMENTS, (other,)):
        if ended and began - at > _APART_MS:
            break
        began, ended = at, ended or at
    return (began, ended) if ended else None


def listed(db: apsw.Connection) -> list[dict[str, Any]]:
    """Return agent, repository, times and counts of each session, the latest first; what was undone counts no more."""
    return [dict(zip(_NAMES, row, strict=True)) for row in db.execute(_SQL)]


def made(db: apsw.Connection, session: str) -> list[int]:
    """Return the memories that a session's notes became."""
    sql = "SELECT m.id FROM receipt r JOIN memory m ON m.note = r.note WHERE r.session = ? ORDER BY m.id"
    return [row for (row,) in db.execute(sql, (session,))]


def shown(db: apsw.Connection, session: str) -> list[int]:
    """Return the memories that a session was shown, in the order they were last shown."""
    sql = "SELECT memory FROM shown WHERE session = ? GROUP BY memory ORDER BY max(at), memory"
    return [row for (row,) in db.execute(sql, (session,))]


def count(db: apsw.Connection, showings: Iterable[Showing]) -> None:
    """Add what was shown; a memory is of use once in each session that asked, or each time where none is known."""
    used = []
    for one in showings:
        for uid, cost in one.tokens.items():
            row = db.execute(_COUNT, (uid, one.session, one.way, one.agent, one.at, cost)).fetchone()
            if row and one.way == RECALL and (row[1] == 1 or not one.session):
                used.append((row[0],))
    db.executemany("UPDATE memory SET uses = uses + 1 WHERE id = ?", used)


def bound(db: apsw.Connection) -> None:
    """Keep the newest rows."""
    if db.execute("SELECT count(*) FROM shown").get > MOST_ROWS:
        db.execute(_BOUND, (MOST_ROWS,))


def of_memory(db: apsw.Connection, memory: int) -> list[dict[str, Any]]:
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
