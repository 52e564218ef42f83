"""Which rows began to hold when. Rows come in as their notes were queued, but for stragglers. Safe on the hot path."""

from memman.store.sqlite.reader import LISTED, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memman.store.filters import Filters

# A note waits in the queue while at most so many others go by.
STRAGGLERS = 256


def window(db: "apsw.Connection", last: int, start: int, end: int) -> tuple[int, int]:
    """Return the first and the last of the rows, up to `last`, that can have begun from `start` to `end`."""
    return _first(db, last, start) - STRAGGLERS, _first(db, last, end) + STRAGGLERS


def _first(db: "apsw.Connection", last: int, moment: int) -> int:
    """Return the first row that began at `moment` or later, found by halving."""
    sql = "SELECT id, valid_from FROM memory WHERE id >= ? ORDER BY id LIMIT 1"
    low, high = 1, last + 1
    while low < high:
        middle = (low + high) // 2
        row = db.execute(sql, (middle,)).get
        low, high = (row[0] + 1, high) if row and row[1] < moment else (low, middle)
    return low


def began(db: "apsw.Connection", ids: "Iterable[int]") -> dict[int, int]:
    """Return when each of `ids` began to hold."""
    return dict(db.execute(f"SELECT id, valid_from FROM memory WHERE id {LISTED}", (id_list(ids),)))


def held(db: "apsw.Connection", filters: "Filters", start: int, end: int, limit: int) -> list[int]:
    """Return the newest current memories in the window of `filters` that began from `start` to `end`."""
    conditions = [*filters.conditions(), ("m.valid_from >= ?", start), ("m.valid_from < ?", end)]
    first, last = filters.window or (0, 2**63 - 1)
    sql = (
        "SELECT m.id FROM memory m WHERE m.status = 'current' AND m.id BETWEEN ? AND ?"
        f"{''.join(f' AND {sql}' for sql, _ in conditions)} ORDER BY m.id DESC LIMIT ?"
    )
    return [memory for (memory,) in db.execute(sql, (first, last, *(value for _, value in conditions), limit))]
