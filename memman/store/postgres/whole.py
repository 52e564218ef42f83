"""A store of a server as a whole: counted, marked while it is being filled, and removed."""

import json
from typing import Any

from psycopg import sql

from memman.store.postgres.server import Connection
from memman.store.tables import TABLES

# Among the numbers of a store: who is filling it, until all of it is there.
_FILLING = "filling"


def state(db: Connection, store: int) -> tuple[int, dict[str, Any]]:
    """Return the number of a store's last turn, and its numbers."""
    found = db.execute("SELECT seq, numbers FROM memman.store WHERE id = %s", (store,)).fetchone()
    return (int(found[0]), found[1]) if found else (0, {})


def filling(db: Connection, store: int) -> str:
    """Return who is filling a store, '' where nobody is."""
    return str(state(db, store)[1].get(_FILLING, ""))


def marked(numbers: dict[str, int], token: str) -> dict[str, Any]:
    """Return the numbers of a store that `token` is filling."""
    return {**numbers, _FILLING: token}


def mark(db: Connection, store: int, numbers: dict[str, Any]) -> None:
    """Keep the numbers of a store, in its turn."""
    db.execute("UPDATE memman.store SET numbers = %s WHERE id = %s", (json.dumps(numbers), store))


def unmark(db: Connection, store: int) -> None:
    """Say that a store is filled."""
    db.execute("UPDATE memman.store SET numbers = numbers - %s WHERE id = %s", (_FILLING, store))


def counts(db: Connection, store: int) -> dict[str, int]:
    """Count the rows of each table that we may see of a store."""
    count = "SELECT count(*) FROM {} WHERE store = %s"
    return {name: int(_run(db, count, name, store).fetchone()[0]) for name in TABLES}


def there(db: Connection, store: int) -> bool:
    """Whether the server has a store that we are a member of."""
    return db.execute("SELECT 1 FROM memman.store WHERE id = %s", (store,)).fetchone() is not None


def others(db: Connection, store: int) -> int:
    """Count the members of a store beside us."""
    found = db.execute("SELECT count(*) FROM memman.member WHERE store = %s AND role <> current_user", (store,))
    row = found.fetchone()
    return int(row[0]) if row else 0


def remove(db: Connection, store: int) -> None:
    """Delete a store that nobody else is a member of."""
    for name in ("change", *sorted(TABLES, key=lambda name: name == "authorship")):
        _run(db, "DELETE FROM {} WHERE store = %s", name, store)
    db.execute("SELECT memman.remove_store(current_user, %s)", (store,))


def _run(db: Connection, query: str, name: str, store: int) -> Any:
    return db.execute(sql.SQL(query).format(sql.Identifier("memman", name)), (store,))
