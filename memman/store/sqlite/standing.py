"""What every session begins with: what a person protected, and what weighs most. Safe on the hot path."""

from memman.model.vocabulary import PROTECTED, WISH
from memman.store.sqlite.scopes import PERSONAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

_STILL_HOLDS = (
    " AND NOT EXISTS"
    " (SELECT 1 FROM freshness WHERE memory = m.id AND ends_at <= CAST(unixepoch('subsec') * 1000 AS INTEGER))"
)


def _marks(values: "Sequence[object]") -> str:
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


def standing(
    db: "apsw.Connection",
    sources: "Sequence[str]",
    limit: int,
    scopes: "frozenset[int] | None",
    *,
    wishes: bool,
    uses: int,
) -> list[int]:
    """Return the current preferences of `scopes`, or all but those, the most important first.

    Twice shown by recall counts as one step of importance, up to `uses` times; of equals the newest comes first.
    """
    sql = (
        f"SELECT m.id FROM memory m WHERE status = 'current' AND (category = '{WISH}') = ?"
        f" AND source IN ({_marks(sources)}){_holds(scopes)}"
        " ORDER BY 2 * importance + min(uses, ?) DESC, id DESC LIMIT ?"
    )
    return [memory for (memory,) in db.execute(sql, (wishes, *sources, uses, limit))]


def before(db: "apsw.Connection", ids: "Sequence[int]") -> dict[int, str]:
    """Return the text of what each of these memories superseded last."""
    sql = f"SELECT superseded_by, text FROM memory WHERE superseded_by IN ({_marks(ids)}) ORDER BY id"
    return dict(db.execute(sql, ids))
