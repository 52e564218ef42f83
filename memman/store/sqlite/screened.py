"""How far a drain has looked through a store for secrets by today's rules, and what else of it must be masked.

Safe on the hot path, which loads it only for a store that is not known to be free of secrets.
"""

from memman.model.vocabulary import LEAKS, LEAKY
from memman.secrets import SCREEN, masked
from memman.sqlite import id_list
from memman.store.sqlite.reader import ROW, TEXTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import apsw

    Row = tuple[Any, ...]

_ALL = 2**63 - 1
# The keys that begin with LEAKS are from the first of these on, and before the other.
_LEAKS = (LEAKS, LEAKS[:-1] + chr(ord(LEAKS[-1]) + 1))


def reached(mark: str) -> int:
    """Return the row up to which a store was looked through by today's rules, as its mark says; 0 for none of it."""
    rules, _, come_to = mark.partition(" ")
    if rules != SCREEN:
        return 0
    return int(come_to) if come_to.isdecimal() else _ALL


def complete(mark: str) -> bool:
    """Whether all of a store was looked through by today's rules."""
    return mark in {SCREEN, f"{SCREEN} {LEAKY}"}


def marked(db: "apsw.Connection") -> bool:
    """Whether a drain found a secret in some memory."""
    return bool(db.execute("SELECT 1 FROM meta WHERE key >= ? AND key < ? LIMIT 1", _LEAKS).get)


def leaking(db: "apsw.Connection", ids: "Iterable[int]") -> set[int]:
    """Return those of `ids` in which a drain found a secret."""
    sql = f"SELECT CAST(substr(key, {len(LEAKS) + 1}) AS INTEGER) FROM meta WHERE key IN"
    sql += f" (SELECT '{LEAKS}' || value FROM json_each(?))"
    return {memory for (memory,) in db.execute(sql, (id_list(ids),))}


def unmarked(db: "apsw.Connection") -> None:
    """Forget in which memories a drain found a secret; inside the transaction its caller holds."""
    db.execute("DELETE FROM meta WHERE key >= ? AND key < ?", _LEAKS)


def harmless(db: "apsw.Connection", rows: "Iterable[Row]", mark: str) -> "list[Row]":
    """Take secrets out of what no drain has found to be free of them."""
    rows = list(rows)
    last, leaky = reached(mark), leaking(db, (row[0] for row in rows))
    return [_masked(row) if row[0] > last or row[0] in leaky else row for row in rows]


def _masked(row: "Row") -> "Row":
    return tuple(masked(value) if name in TEXTS else value for name, value in zip(ROW, row, strict=True))
