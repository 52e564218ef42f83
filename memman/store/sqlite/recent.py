"""What came into a store, and what changed in it, since a moment; both by row."""

import apsw

# Log lines that change neither what a memory says nor how it stands.
_QUIET = "('confirm', 'feedback', 'link')"


def came(db: apsw.Connection, since: int) -> dict[int, str]:
    """Return the memories recorded since then, newest first, each with its day (local time); forgotten ones not."""
    sql = (
        "SELECT id, date(recorded_at / 1000, 'unixepoch', 'localtime') FROM memory"
        " WHERE recorded_at >= ? AND status <> 'forgotten' ORDER BY recorded_at DESC, id DESC"
    )
    return dict(db.execute(sql, (since,)))


def changed(db: apsw.Connection, since: int) -> dict[int, tuple[str, ...]]:
    """Return the memories with log lines since then, in the order of the first, each with the verbs of its lines."""
    sql = (
        "SELECT m.id, l.verb FROM log l JOIN memory m ON m.uid = l.memory"
        f" WHERE l.at >= ? AND l.verb NOT IN {_QUIET} ORDER BY l.id"
    )
    verbs: dict[int, tuple[str, ...]] = {}
    for row, verb in db.execute(sql, (since,)):
        verbs[row] = (*verbs.get(row, ()), verb)
    return verbs
