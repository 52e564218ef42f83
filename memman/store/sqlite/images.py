"""What one transaction changed beside the memories it added: small rows as they were before and as it left them.

An image is [table, key, before, after]; key and values are lists of columns, None stands for a row that is not there.
It holds no text that anybody said but paths of files and scopes; a purge drops what names its memories.
"""

from collections.abc import Callable, Sequence
from typing import Any

import apsw

from memman.model.vocabulary import REPLACED
from memman.store.sqlite import seal

Values = list[Any] | None
Image = list[Any]

SCOPED = "scoped"
# Table -> (its key, the columns that are kept).
TABLES = {
    "memory": (("id",), ("status", "valid_to", "retired_at", "superseded_by")),
    "meta": (("key",), ("value",)),
    "link": (("src", "kind", "dst"), ("weight", "detail")),
    "evidence": (("memory", "kind", "session"), ("at",)),
    "freshness": (("memory",), ("ends_at", "verified_at")),
    "file": (("memory", "path"), ("blob", "changed_at")),
    SCOPED: (("memory",), ("repository", "path")),
}
# In the place of the row of a memory that was purged: no row has it.
GONE = -1
# Of these only so many of the columns tell whether somebody has changed a row since: the others a drain works out.
_TELLING = {"file": 1}


def read(db: apsw.Connection, table: str, key: list[Any]) -> Values:
    """Return the kept columns of a row, or None."""
    names, columns = TABLES[table]
    where = " AND ".join(f"{name} = ?" for name in names)
    rows = f"{table} JOIN scope ON scope.id = scope" if table == SCOPED else table
    row: Any = db.execute(f"SELECT {', '.join(columns)} FROM {rows} WHERE {where}", key).fetchone()
    return list(row) if row else None


def write(db: apsw.Connection, table: str, key: list[Any], values: Values) -> None:
    """Give a row these columns, make it, or delete it; of memories only those that are there are changed."""
    names, columns = TABLES[table]
    where = " AND ".join(f"{name} = ?" for name in names)
    if values is None:
        db.execute(f"DELETE FROM {table} WHERE {where}", key)
    elif table == "memory":
        db.execute(f"UPDATE memory SET {', '.join(f'{name} = ?' for name in columns)} WHERE {where}", (*values, *key))
        seal.reseal(db, "id = ?", tuple(key))
    elif table == SCOPED:
        put_scope(db, key[0], *values)
    else:
        marks = ", ".join("?" * len(names + columns))
        db.execute(f"INSERT OR REPLACE INTO {table}({', '.join(names + columns)}) VALUES ({marks})", (*key, *values))


def put_scope(db: apsw.Connection, memory: int, repository: str, path: str) -> None:
    """Have a memory hold for a repository, a folder of it, or with '' everywhere."""
    db.execute("INSERT INTO scope(repository, path) VALUES (?, ?) ON CONFLICT DO NOTHING", (repository, path))
    sql = "INSERT OR REPLACE INTO scoped SELECT ?, id FROM scope WHERE repository = ? AND path = ?"
    db.execute(sql, (memory, repository, path))


def alike(table: str, one: Values, other: Values) -> bool:
    """Whether two values of a row say the same, as far as notes and people have a say."""
    columns = _TELLING.get(table)
    return (one and one[:columns]) == (other and other[:columns])


def named(table: str, key: Sequence[Any]) -> Sequence[Any]:
    """Return the rows of the memories that a key names, none of a setting's."""
    return () if table == "meta" else key[::2] if table == "link" else key[:1]


def moved(image: Sequence[Any], place: Callable[[Any], Any]) -> Image:
    """Return an image that names each memory by what `place` makes of its row or uid, or of that as a word."""
    table, key, before, after = image
    if table == "meta":
        waits = str(key[0]).startswith(REPLACED)
        return [table, key, *((one and [_word(one[0], place)] if waits else one) for one in (before, after))]
    if table == "link":
        return [table, [place(key[0]), key[1], place(key[2])], before, after]
    key = [place(key[0]), *key[1:]]
    if table == "memory":
        return [table, key, *(one and [*one[:3], one[3] and place(one[3])] for one in (before, after))]
    return [table, key, before, after]


def _word(said: str, place: Callable[[Any], Any]) -> str:
    """Return word that a memory left for the note it replaces (see REPLACED), the memory named anew."""
    memory, _, since = said.partition(" ")
    return f"{place(memory)} {since}"


class Record:
    """The images of one transaction, taken as it goes."""

    def __init__(self, db: apsw.Connection) -> None:
        self._db = db
        self._before: dict[tuple[str, tuple[Any, ...]], Values] = {}
        self.added: dict[int, str] = {}

    def about(self, table: str, *key: Any) -> None:
        """Keep what a row says before it is first changed."""
        if (table, key) not in self._before:
            self._before[table, key] = read(self._db, table, list(key))

    def images(self) -> list[Image]:
        """Return what has changed, in order, but for what is about memories that came in."""
        found = [
            [table, list(key), before, read(self._db, table, list(key))]
            for (table, key), before in self._before.items()
            if not self._of_added(table, key)
        ]
        return [image for image in found if image[2] != image[3]]

    def _of_added(self, table: str, key: tuple[Any, ...]) -> bool:
        if table == "meta":
            return str(key[0]).partition(":")[2] in self.added.values()
        return any(end in self.added for end in named(table, key))
