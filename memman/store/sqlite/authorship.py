"""Who wrote each memory of a store that several people share, who may see it, and who retired it. Hot."""

from memman.model.vocabulary import CONNECTED
from memman.sqlite import LISTED, Row, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

# What holds everywhere is its author's own, what holds for a repository is for all who share the store.
DEFAULT = "iif((SELECT scope FROM scoped WHERE memory = {}), 'shared', 'private')"
_OF = f"SELECT visibility FROM (SELECT coalesce(a.visibility, {DEFAULT.format('?1')}) AS visibility FROM (SELECT 1)"
_VISIBILITY = f"{_OF} LEFT JOIN authorship a ON a.memory = ?1)"


class AuthorRow(Row):
    """Who wrote a memory and who retired it, '' for nobody, and for whom it is."""

    __slots__ = ()
    memory: int
    author: str
    visibility: str
    retired_by: str


def of(db: "apsw.Connection", ids: "Iterable[int]") -> dict[int, AuthorRow]:
    """Return what is known of each of `ids`."""
    sql = f"SELECT {AuthorRow.listed()} FROM authorship WHERE memory {LISTED}"
    return {row[0]: AuthorRow(row) for row in db.execute(sql, (id_list(ids),))}


def role(db: "apsw.Connection") -> str:
    """Return who we are on the server, '' in a store that is no replica."""
    return db.execute("SELECT value ->> '$[2]' FROM meta WHERE key = ?", (CONNECTED,)).get or ""


def visibility(db: "apsw.Connection", memory: int) -> str:
    """Return for whom a memory is, or will be."""
    return str(db.execute(_VISIBILITY, (memory,)).get)


def replaced_for_all(db: "apsw.Connection", memory: int) -> int | None:
    """Return a memory that all see and that `memory` has replaced, if there is any."""
    sql = "SELECT id FROM memory JOIN authorship ON memory = id WHERE superseded_by = ? AND visibility = 'shared'"
    found: int | None = db.execute(sql, (memory,)).get
    return found


def keeps_apart(db: "apsw.Connection", new: int, old: int) -> bool:
    """Whether `new` may not retire `old`: the one is private, and others, who cannot see it, would lose the other."""
    return bool(role(db)) and visibility(db, new) == "private" and visibility(db, old) == "shared"


def put(db: "apsw.Connection", memory: int, visibility: str) -> None:
    """Say for whom a memory is; its author is filled in where it is shared."""
    db.execute(
        "INSERT INTO authorship(memory, visibility) VALUES (?, ?)"
        " ON CONFLICT DO UPDATE SET visibility = excluded.visibility",
        (memory, visibility),
    )
