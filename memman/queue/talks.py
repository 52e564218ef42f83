"""Conversations that go on: their turns wait for one another, so that a model reads them together."""

import apsw

from memman.clock import now_ms
from memman.config.shown import session_ended

# A conversation is over once nobody has said anything for so long (milliseconds), or after so many turns.
QUIET, MOST = 15 * 60_000, 16
# Queue setting: `on` where a model reads conversations, and drains that nobody waits for leave turns until theirs ends.
TOGETHER = "conversations"
_TALKS = """
SELECT agent, session, count(*) FROM note
WHERE state = 'pending' AND channel = 'turn' AND session <> ''
GROUP BY agent, session HAVING count(*) < ? AND max(queued_at) BETWEEN ? AND ?
"""
WAITS = "a conversation goes on: its turns are read once it ends, or is quiet for 15 minutes"


def going_on(db: apsw.Connection, data: str) -> dict[str, int]:
    """Return the conversations that go on, as 'agent session', and how many turns of each wait."""
    now = now_ms()
    return {
        f"{agent} {session}": turns
        for agent, session, turns in db.execute(_TALKS, (MOST, now - QUIET, now + QUIET))
        if not session_ended(data, agent, session)
    }
