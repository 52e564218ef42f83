"""Which rows began to hold when, by halving: `recorded_at` rises with them. Safe on the hot path."""

from memman.model.vocabulary import HIDDEN
from memman.sqlite import LISTED, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memman.store.filters import Filters

# Rows that go by while a note that failed is tried again: some days of a busy store, by estimate. What comes in later
# yet is found by its words and its meaning alone.
STRAGGLERS = 256


def first(db: "apsw.Connection", last: int, moment: int, column: str = "recorded_at") -> int:
    """Return the first row, up to `last`, recorded at `moment` or later; the one after `last` for none."""
    sql = f"SELECT id, {column} FROM memory WHERE id >= ? ORDER BY id LIMIT 1"
    low, high = 1, last + 1
    while low < high:
        middle = (low + high) // 2
        memory, at = db.execute(sql, (middle,)).get or (0, moment)
        low, high = (min(memory + 1, high), high) if at < moment else (low, middle)
    return low


def window(db: "apsw.Connection", last: int, start: int, end: int) -> tuple[int, int]:
    """Return the first and last of the rows, up to `last`, that can have begun from `start` to `end`.

    What began before `end` may have waited a day for its drain.
    """
    ends = (first(db, last, end, column) for column in ("recorded_at", "valid_from"))
    return first(db, last, start), max(ends) + STRAGGLERS


def began(db: "apsw.Connection", ids: "Iterable[int]") -> dict[int, int]:
    """Return when each of `ids` began to hold."""
    return dict(db.execute(f"SELECT id, valid_from FROM memory WHERE id {LISTED}", (id_list(ids),)))


def held(
    db: "apsw.Connection", filters: "Filters", start: int, end: int, limit: int, scoped: str = ""
) -> list[tuple[int, int]]:
    """Return (id, when it began) of the newest memories that began from `start` to `end`, superseded ones too.

    `scoped` says as SQL which memories count.
    """
    conditions = [*filters.conditions(), ("m.valid_from >= ?", start), ("m.valid_from < ?", end)]
    since, until = filters.window or (0, 2**63 - 1)
    inside = f" AND m.id{scoped}" if scoped else ""
    sql = (
        f"SELECT m.id, m.valid_from FROM memory m WHERE m.status NOT IN {HIDDEN} AND m.id BETWEEN ? AND ?"
        f"{''.join(f' AND {sql}' for sql, _ in conditions)}{inside} ORDER BY m.id DESC LIMIT ?"
    )
    return list(db.execute(sql, (since, until, *(value for _, value in conditions), limit)))
