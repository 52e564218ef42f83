"""Whether the tables of a database are those of the schema that it says it has."""

from collections.abc import Callable, Sequence
from contextlib import closing

import apsw

# What SQLite adds for itself, and takes away.
_ITS_OWN = "sqlite_stat*"
Taught = Callable[[apsw.Connection], None] | None


def misfit(db: apsw.Connection, steps: Sequence[str], teach: Taught) -> str:
    """Say how tables and schema version disagree, '' where they do not; a table more than there should be is no harm.

    `teach` gives a connection the functions that `steps` use. Every step changes a table: a newer number with the
    tables of this schema is a changed byte.
    """
    version = db.execute("PRAGMA user_version").get
    made = _tables(db)
    if version <= 0:
        return "it has tables, but not the number of their schema" if made else ""
    expected = _tables_of(steps[:version], teach)
    if version > len(steps):
        return f"it has the tables of schema {len(steps)}, but says {version}" if made == expected else ""
    lost = sorted({name for _, name, *_ in expected} - {name for _, name, *_ in made})
    if lost:
        return f"it lacks {', '.join(lost)}"
    other = sorted({name for _, name, *_ in expected - made})
    return f"not as schema {version} has it: {', '.join(other)}" if other else ""


def fits(db: apsw.Connection, steps: Sequence[str]) -> bool:
    """Whether a database has the tables of any schema, whichever it says it has."""
    made = _tables(db)
    return any(_tables_of(steps[:number], None) <= made for number in range(1, len(steps) + 1))


def _tables_of(steps: Sequence[str], teach: Taught) -> set[tuple[str, ...]]:
    with closing(apsw.Connection(":memory:")) as model:
        if teach:
            teach(model)
        for step in steps:
            model.execute(step)
        return _tables(model)


def _tables(db: apsw.Connection) -> set[tuple[str, ...]]:
    """Return type, name, table and words of all that there is; releases of SQLite quote names in their own ways."""
    sql = f"SELECT type, name, tbl_name, replace(sql, '\"', '') FROM sqlite_master WHERE name NOT GLOB '{_ITS_OWN}'"
    return set(db.execute(sql))
