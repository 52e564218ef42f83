"""What every session begins with: what a person protected, and what weighs most. Safe on the hot path."""

from memman.config.scope import sees
from memman.model.vocabulary import WISH
from memman.store.sqlite.authorship import role
from memman.store.sqlite.scopes import PERSONAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from memman.config.scope import Here

# How many of the newest memories are looked through for a session, where no other number is given.
_NEWEST = 200
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
        "SELECT m.id FROM mark JOIN memory m ON m.id = memory"
        f" WHERE protected IS NOT NULL AND m.status = 'current' AND m.source IN ({_marks(sources)})"
        f"{_holds(scopes)} ORDER BY m.importance DESC, m.id DESC LIMIT ?"
    )
    return [memory for (memory,) in db.execute(sql, (*sources, limit))]


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


def last_session(
    db: "apsw.Connection", here: "Here", other: str, since: int = 0, newest: int = _NEWEST
) -> tuple[str, str, int] | None:
    """Return origin, id and newest moment of our last session `here`, but the `other`, that left something `since`."""
    sql = (
        "SELECT m.origin, r.session, m.recorded_at, r.repository FROM memory m CROSS JOIN receipt r ON r.note = m.note"
        " WHERE m.id > (SELECT max(id) FROM memory) - ? AND m.recorded_at > ? AND m.status IN ('current', 'review')"
        " AND r.session NOT IN ('', ?) AND NOT EXISTS"
        " (SELECT 1 FROM authorship WHERE memory = m.id AND author NOT IN ('', ?)) ORDER BY m.id DESC"
    )
    for origin, session, at, repository in db.execute(sql, (newest, since, other, role(db))):
        if repository == here.repository or sees(here, repository, "", inside=False):
            return origin, session, at
    return None


def kept(db: "apsw.Connection", origin: str) -> tuple[int, int, int]:
    """Count the current memories of an origin, those of others that they took the place of, and what is in review."""
    sql = (
        "SELECT total(m.status = 'current'), total(m.status = 'review'), total("
        "(SELECT count(*) FROM memory o WHERE o.superseded_by = m.id AND o.origin <> m.origin))"
        " FROM memory m WHERE m.origin = ? AND m.status IN ('current', 'review')"
    )
    count, held, replaced = map(int, next(db.execute(sql, (origin,))))
    return count, replaced, held
