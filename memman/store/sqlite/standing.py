"""What every session begins with: what a person protected, and what weighs most of a category. Safe on the hot path."""

from memman.model.vocabulary import PROTECTED
from memman.store.sqlite import unconfirmed
from memman.store.sqlite.scopes import PERSONAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

_STILL_HOLDS = (
    " AND NOT EXISTS"
    " (SELECT 1 FROM freshness WHERE memory = m.id AND ends_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER))"
)


def _marks(values: "Sequence[str]") -> str:
    return ", ".join("?" * len(values))


def _holds(scopes: "frozenset[int] | None") -> str:
    """Write that a memory `m` has one of `scopes` and is not past its end."""
    if scopes is None:
        return _STILL_HOLDS
    listed = ", ".join(map(str, sorted(scopes)))
    return f" AND coalesce((SELECT scope FROM scoped WHERE memory = m.id), {PERSONAL}) IN ({listed}){_STILL_HOLDS}"


def protected(
    db: "apsw.Connection", sources: "Sequence[str]", limit: int, scopes: "frozenset[int] | None"
) -> list[int]:
    """Return the current memories of `scopes` that a person protected, the most important first, then the newest."""
    sql = (
        "SELECT m.id FROM meta JOIN memory m ON m.uid = substr(meta.key, ?)"
        f" WHERE meta.key >= ? AND meta.key < ? AND m.status = 'current' AND m.source IN ({_marks(sources)})"
        f"{_holds(scopes)} ORDER BY m.importance DESC, m.id DESC LIMIT ?"
    )
    beyond = PROTECTED[:-1] + chr(ord(PROTECTED[-1]) + 1)
    values = (len(PROTECTED) + 1, PROTECTED, beyond, *sources, limit)
    return [memory for (memory,) in db.execute(sql, values)]


def of_category(
    db: "apsw.Connection",
    category: str,
    sources: "Sequence[str]",
    limit: int,
    scopes: "frozenset[int] | None",
    *,
    uses: int,
) -> list[int]:
    """Return a category's current memories of `scopes`, the most important first; none that is unconfirmed.

    Twice shown by recall counts as one step of importance, up to `uses` times; of equals the newest comes first.
    """
    sql = (
        f"SELECT m.id FROM memory m WHERE status = 'current' AND category = ? AND source IN ({_marks(sources)})"
        f" AND NOT ({unconfirmed.UNCONFIRMED})"
        f"{_holds(scopes)} ORDER BY 2 * importance + min(uses, ?) DESC, id DESC LIMIT ?"
    )
    return [memory for (memory,) in db.execute(sql, (category, *sources, uses, limit))]
