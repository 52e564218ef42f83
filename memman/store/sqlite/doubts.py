"""What is maybe replaced by what: marks in the settings of a store, written within a transaction."""

import apsw

from memman.model.vocabulary import MAYBE

_HOLDS = """
WITH RECURSIVE step(id, next) AS (
    SELECT id, superseded_by FROM memory WHERE uid = (SELECT value FROM meta WHERE key = ?)
    UNION SELECT m.id, m.superseded_by FROM step JOIN memory m ON m.id = step.next
)
SELECT m.uid FROM step JOIN memory m ON m.id = step.id WHERE step.next IS NULL
"""


def newer(db: apsw.Connection, uid: str) -> str:
    """Return the uid of what holds in the place of what the memory `uid` is maybe replaced by, '' for nothing."""
    return db.execute(_HOLDS, (MAYBE + uid,)).get or ""


def leading_back(db: apsw.Connection, old: str, new: str) -> str:
    """Return whose mark leads from `new`, by way of others or at once, back to `old`; '' where none does."""
    passed = [old]
    while new and new not in passed:
        passed.append(new)
        new = newer(db, new)
    return passed[-1] if new else ""


def marked(db: apsw.Connection, uid: str) -> str:
    """Return the uid of what the memory `uid` is marked as maybe replaced by, '' for nothing."""
    return db.execute("SELECT value FROM meta WHERE key = ?", (MAYBE + uid,)).get or ""
