"""Which memories hold where one stands. Safe on the hot path.

A search is not slowed by looking up each row that it meets: it brings as many more as memories of others will take
away, and those that remain are the best of the visible ones. Only where nearly all of a large store is others' does it
look them up.
"""

from memman.config.scope import same, sees
from memman.sqlite import LISTED, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    import apsw

    from memman.config.scope import Here

# The number of what holds everywhere.
PERSONAL = 0
# How many more rows are brought than are needed by the share of visible memories, and beside that.
_MORE, _BESIDE = 1.25, 8
# So many rows cost as much to sort and to look up afterwards as the visible ones cost to be listed before.
_MOST = 4_096


def visible(db: "apsw.Connection", here: "Here", *, inside: bool) -> frozenset[int] | None:
    """Return the scopes that hold `here`, what holds everywhere among them; None where all of the store's do."""
    rows: list[tuple[int, str, str]] = list(db.execute("SELECT id, repository, path FROM scope"))
    seen = [number for number, *scope in rows if number == PERSONAL or sees(here, *scope, inside=inside)]
    return frozenset(seen) if len(seen) < len(rows) else None


def holding(db: "apsw.Connection", repository: str, path: str = "") -> frozenset[int]:
    """Return the scopes of one repository, or of one folder of it; with '' what holds everywhere alone."""
    if not repository:
        return frozenset((PERSONAL,))
    rows = db.execute("SELECT id, repository, path FROM scope WHERE id <> ?", (PERSONAL,))
    return frozenset(number for number, other, its in rows if same(repository, other) and path in {"", its})


def named(db: "apsw.Connection", ids: "Iterable[int]") -> "dict[int, tuple[str, str]]":
    """Return the repository and the folder of each of `ids` that does not hold everywhere."""
    sql = f"SELECT memory, repository, path FROM scoped JOIN scope ON scope.id = scope WHERE memory {LISTED}"
    return {memory: (repository, path) for memory, repository, path in db.execute(sql, (id_list(ids),)) if repository}


def kept(db: "apsw.Connection", ids: "Iterable[int]", scopes: frozenset[int]) -> set[int]:
    """Return those of `ids` that have one of `scopes`."""
    ids = list(ids)
    found = dict(db.execute(f"SELECT memory, scope FROM scoped WHERE memory {LISTED}", (id_list(ids),)))
    return {memory for memory in ids if found.get(memory, PERSONAL) in scopes}


def best(
    db: "apsw.Connection",
    scopes: frozenset[int] | None,
    limit: int,
    stored: int,
    search: "Callable[[int, str], list[tuple[int, Any]]]",
) -> "list[tuple[int, Any]]":
    """Return the first `limit` by id that `search`, given how many and which count as SQL, finds in `scopes`."""
    if scopes is None:
        return search(limit, "")
    mine: int = db.execute(f"SELECT count(*) FROM scoped WHERE scope {LISTED}", (id_list(scopes),)).get
    most = int(limit * _MORE * stored / max(mine, 1)) + _BESIDE
    while most <= _MOST:
        found = search(most, "")
        visible = kept(db, [memory for memory, _ in found], scopes)
        chosen = [one for one in found if one[0] in visible][:limit]
        if len(chosen) == limit or len(found) < most:
            return chosen
        most *= 4
    listed = ", ".join(map(str, sorted(scopes)))
    return search(limit, f" IN (SELECT memory FROM scoped WHERE scope IN ({listed}))")
