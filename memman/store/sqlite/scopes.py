"""Which memories hold where one stands, and in a shared store, who wrote and who sees each. Safe on the hot path.

A search is not slowed by looking up each row that it meets: it brings as many more as memories of others will take
away, and those that remain are the best of the visible ones. Only where nearly all of a large store is others' does it
look them up.
"""

from memman.config.scope import same, sees
from memman.model.vocabulary import CONNECTED
from memman.sqlite import LISTED, Row, id_list

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
# What holds everywhere is its author's own, what holds for a repository is for all who share the store.
DEFAULT = "iif((SELECT scope FROM scoped WHERE memory = {}), 'shared', 'private')"
_OF = f"SELECT visibility FROM (SELECT coalesce(a.visibility, {DEFAULT.format('?1')}) AS visibility FROM (SELECT 1)"
_VISIBILITY = f"{_OF} LEFT JOIN authorship a ON a.memory = ?1)"
_ALL = f"""SELECT m.id, coalesce(nullif(a.author, ''), ?1), coalesce(a.visibility, {DEFAULT.format("m.id")}),
    iif(m.status IN ('superseded', 'forgotten'), coalesce(nullif(a.retired_by, ''), ?1), '')
    FROM memory m LEFT JOIN authorship a ON a.memory = m.id WHERE m.id {LISTED}"""


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


def held_by(
    db: "apsw.Connection", former: "Iterable[str]", identity: str
) -> "tuple[list[tuple[int, str, str]], list[tuple[str, str, str]]]":
    """Return the memories by row, and rules by uid, that hold for one of `former` and not for `identity`.

    Each with its repository and folder.
    """
    numbers = frozenset[int]().union(*(holding(db, one) for one in former if one)) - holding(db, identity)
    listed = (id_list(numbers),)
    memories = f"SELECT memory, repository, path FROM scoped JOIN scope ON id = scope WHERE id {LISTED} ORDER BY 1"
    rules = f"SELECT uid, repository, path FROM rule JOIN scope s ON s.id = scope WHERE s.id {LISTED} ORDER BY 1"
    return list(db.execute(memories, listed)), list(db.execute(rules, listed))


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


class AuthorRow(Row):
    """Who wrote a memory and who retired it, '' for nobody, and for whom it is."""

    __slots__ = ()
    memory: int
    author: str
    visibility: str
    retired_by: str


def authors(db: "apsw.Connection", ids: "Iterable[int]") -> dict[int, AuthorRow]:
    """Return what is known of each of `ids`; in a store that is shared of all, and what is nobody else's is ours."""
    if not (ours := role(db)):
        sql = f"SELECT {AuthorRow.listed()} FROM authorship WHERE memory {LISTED}"
        return {row[0]: AuthorRow(row) for row in db.execute(sql, (id_list(ids),))}
    return {row[0]: AuthorRow(row) for row in db.execute(_ALL, (ours, id_list(ids)))}


def role(db: "apsw.Connection") -> str:
    """Return who we are on the server, '' in a store that nobody shares."""
    return db.execute("SELECT value ->> '$[2]' FROM meta WHERE key = ?", (CONNECTED,)).get or ""


def visibility(db: "apsw.Connection", memory: int) -> str:
    """Return for whom a memory is, or will be."""
    return str(db.execute(_VISIBILITY, (memory,)).get)


def replaced_for_all(db: "apsw.Connection", memory: int) -> int | None:
    """Return a memory that all see and that `memory` has replaced, if there is any."""
    replaced: list[Any] = db.execute("SELECT id FROM memory WHERE superseded_by = ?", (memory,)).fetchall()
    return next((old for (old,) in replaced if visibility(db, old) == "shared"), None)


def keeps_apart(db: "apsw.Connection", new: int, old: int) -> bool:
    """Whether `new` may not retire `old`: the one is private, and others, who cannot see it, would lose the other."""
    return bool(role(db)) and visibility(db, new) == "private" and visibility(db, old) == "shared"


def of_others(db: "apsw.Connection") -> set[tuple[str, int]]:
    """Return table and row of the memories, rules and records of which only others may change what they say."""
    may = db.execute("SELECT value ->> '$[3]' FROM meta WHERE key = ?", (CONNECTED,)).get
    if may in {None, "own"}:
        return set()
    return set(
        db.execute(
            "SELECT 'memory', memory FROM authorship WHERE author <> ''"
            " UNION ALL SELECT 'record', id FROM record WHERE author <> ''"
            " UNION ALL SELECT 'rule', rule.id FROM rule WHERE NOT EXISTS"
            " (SELECT 1 FROM record r WHERE r.memory = rule.uid AND r.author = '')"
        )
    )
