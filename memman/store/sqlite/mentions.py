"""Which memories mention a name, whether or not it was known as one when they came."""

import apsw

from memman.model.names import expression
from memman.model.names import mentions as mentioned

# Rows that may mention a name, of which so many are read: more often a name tells little.
_MOST = 64


def mentions(db: apsw.Connection, called: str, current: str, horizon: int, limit: int) -> tuple[int, list[int]]:
    """Return about how many memories mention a name, and the newest that are `current`, below row `horizon`."""
    match = expression(called)
    if not match:
        return 0, []
    known = db.execute("SELECT count FROM entity WHERE name = ?", (called.casefold(),)).get or 0
    sql = (
        "SELECT m.id, m.text, m.entities FROM"
        " (SELECT rowid FROM fts WHERE fts MATCH ? AND rowid < ? ORDER BY rowid DESC LIMIT ?) n"
        f" CROSS JOIN memory m ON m.id = n.rowid WHERE {current} ORDER BY m.id DESC"
    )
    rows = db.execute(sql, (match, horizon, _MOST))
    found = [memory for memory, text, entities in rows if mentioned(text, called) or mentioned(entities, called)]
    return max(known, len(found)), found[:limit]
