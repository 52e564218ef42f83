"""Who wrote each memory of a store that several people share, who may see it, and who retired it. Hot."""

from memman.model.vocabulary import CONNECTED
from memman.sqlite import LISTED, Row, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import apsw

# What holds everywhere is its author's own, what holds for a repository is for all who share the store.
DEFAULT = "iif((SELECT scope FROM scoped WHERE memory = {}), 'shared', 'private')"
_OF = f"SELECT visibility FROM (SELECT coalesce(a.visibility, {DEFAULT.format('?1')}) AS visibility FROM (SELECT 1)"
_VISIBILITY = f"{_OF} LEFT JOIN authorship a ON a.memory = ?1)"
_ALL = f"""SELECT m.id, coalesce(nullif(a.author, ''), ?1), coalesce(a.visibility, {DEFAULT.format("m.id")}),
    iif(m.status IN ('superseded', 'forgotten'), coalesce(nullif(a.retired_by, ''), ?1), '')
    FROM memory m LEFT JOIN authorship a ON a.memory = m.id WHERE m.id {LISTED}"""


class AuthorRow(Row):
    """Who wrote a memory and who retired it, '' for nobody, and for whom it is."""

    __slots__ = ()
    memory: int
    author: str
    visibility: str
    retired_by: str


def of(db: "apsw.Connection", ids: "Iterable[int]") -> dict[int, AuthorRow]:
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


def shared(db: "apsw.Connection") -> list[str]:
    """Return the memories and rules that others see too."""
    rows: list[Any] = db.execute("SELECT id, uid FROM memory").fetchall()
    rules: list[Any] = db.execute("SELECT uid FROM rule WHERE scope").fetchall()
    return [uid for row, uid in rows if visibility(db, row) == "shared"] + [uid for (uid,) in rules]
