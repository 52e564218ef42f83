"""A checksum of a row's values that tells a damaged row from a sound one (docs/adr/0020). Safe on the hot path."""

from zlib import crc32

from memman.store import MemoryRow

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    import apsw

# The columns that a digest covers, in order: all but how often a memory was shown.
SEALED = MemoryRow.columns[:-1]


def digest(*values: "Any") -> int:
    """Return the digest of a row, its columns in the order of SEALED."""
    return crc32(ascii(values).encode())


def sound(row: "Sequence[Any]") -> bool:
    """Whether a row, the columns of SEALED and then its digest, says what was once written."""
    return bool(digest(*row[:-1]) == row[-1])


def register_functions(db: "apsw.Connection") -> None:
    """Give a connection the SQL function that writes use."""
    db.create_scalar_function("row_digest", digest, len(SEALED), deterministic=True)


def reseal(db: "apsw.Connection", where: str = "1", values: "Sequence[Any]" = ()) -> None:
    """Give memories the digest of what they say now; the connection must have been taught."""
    db.execute(f"UPDATE memory SET digest = row_digest({', '.join(SEALED)}) WHERE {where}", values)
