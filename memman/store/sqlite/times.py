"""Which memories began to hold when, by the index of that moment. Safe on the hot path."""

from memman.model.vocabulary import HIDDEN
from memman.sqlite import LISTED, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import apsw

    from memman.store.filters import Filters

# A time that holds more memories than these bounds no rows: reading where it begins and ends would cost more.
MOST = 10_000
ALL = (0, 2**63 - 1)


def window(db: "apsw.Connection", start: int, end: int) -> tuple[int, int]:
    """Return the first and last row that began to hold from `start` to `end`; (1, 0) where none did."""
    inside = "SELECT id FROM memory INDEXED BY memory_began WHERE valid_from >= ? AND valid_from < ? LIMIT ?"
    sql = f"SELECT count(*), min(id), max(id) FROM ({inside})"
    count, first, last = db.execute(sql, (start, end, MOST + 1)).get
    return ALL if count > MOST else (first or 1, last or 0)


def nearest(db: "apsw.Connection", moment: int, memory: int, count: int, *, later: bool) -> list[tuple[int, int]]:
    """Return (when it began, id) of the `count` memories that began just before, or after, a memory; hidden ones not.

    A `memory` of 0 stands before all of its moment.
    """
    than, order = (">", "") if later else ("<", " DESC")
    sql = (
        f"SELECT valid_from, id FROM memory WHERE (valid_from, id) {than} (?, ?) AND status NOT IN {HIDDEN}"
        f" ORDER BY valid_from{order}, id{order} LIMIT ?"
    )
    found: list[Any] = db.execute(sql, (moment, memory, count)).fetchall()
    return found


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
    inside = f" AND m.id{scoped}" if scoped else ""
    sql = (
        f"SELECT m.id, m.valid_from FROM memory m WHERE m.status NOT IN {HIDDEN}"
        f"{''.join(f' AND {sql}' for sql, _ in conditions)}{inside} ORDER BY m.valid_from DESC, m.id DESC LIMIT ?"
    )
    return list(db.execute(sql, (*(value for _, value in conditions), limit)))
