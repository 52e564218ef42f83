"""By which rules for secrets each memory was screened, and hiding what no drain has looked at by today's.

The column `screened` holds the version of the rules by which a memory is known to hold no secret. It is negative where
they found one, which a person has to take out, and 0 where nobody looked. What newer rules have looked at is left to
them. Safe on the hot path, which loads it only for what has to be looked at.
"""

from contextlib import closing

from memman.model.errors import MemmanError
from memman.secrets import SCREEN, masked
from memman.sqlite import LISTED, TranslatedErrors, id_list, open_reader, schema_version
from memman.store import TEXTS, MemoryRow
from memman.store.sqlite.schema import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    import apsw

    Row = tuple[Any, ...]

_OUTDATED = "SELECT 1 FROM outdated JOIN memory ON id = memory LIMIT 1"
# What neither today's rules nor newer ones have looked at: a range of the index.
NEXT = (
    f"SELECT id, {', '.join(TEXTS)} FROM memory INDEXED BY memory_screened"
    f" WHERE screened > -{SCREEN} AND screened < {SCREEN} LIMIT ?"
)


def due(path: str) -> bool:
    """Whether drains have to look through the store at `path`, or to make vectors; not where it cannot be read."""
    try:
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            version = schema_version(db, VERSION, path)
            return version > 0 and bool(next_rows(db, 1) or (version == VERSION and db.execute(_OUTDATED).get))
    except MemmanError:
        return False


def next_rows(db: "apsw.Connection", limit: int) -> "list[Row]":
    """Return (id, *TEXTS) of memories that today's rules have not looked at."""
    return list(db.execute(NEXT, (limit,)))


def mark(db: "apsw.Connection", ids: "Iterable[int]", *, leaky: bool = False) -> None:
    """Say of memories that today's rules found no secret in them, or one; in the transaction its caller holds."""
    sql = f"UPDATE memory SET screened = ? WHERE id {LISTED}"
    db.execute(sql, (-SCREEN if leaky else SCREEN, id_list(ids)))


def mark_all(db: "apsw.Connection") -> None:
    """Say of every memory that it holds no secret; in the transaction its caller holds."""
    db.execute("UPDATE memory SET screened = ? WHERE screened <> ?", (SCREEN, SCREEN))


def leaking(db: "apsw.Connection") -> bool:
    """Whether a drain found a secret in some memory."""
    return bool(db.execute("SELECT 1 FROM memory WHERE screened < 0 LIMIT 1").get)


def hidden(row: MemoryRow) -> MemoryRow:
    """Take the secrets out of a memory."""
    return MemoryRow(masked(value) if name in TEXTS else value for name, value in row.record().items())
