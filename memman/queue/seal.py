"""What tells a note that waits from one that the disk has changed. Safe on the hot path.

Its digest is the number that the bytes of its columns make, modulo a prime. One byte changed changes that number by
d·256ⁿ with 0 < d < 256, which the prime does not divide; so does any error within 62 bits. Of all others one
in 10¹⁹ passes. It takes no import, which `remember` would pay for with each note (docs/adr/0020).
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

# The largest prime that an SQLite integer can hold.
PRIME = 2**63 - 25
TEXTS = (
    "uid", "store", "text", "reply", "category", "entities", "replaces", "source", "agent", "session", "cwd",
    "repository", "revision", "host", "user", "channel", "shown",
)  # fmt: skip
# The columns that a digest covers: all that was said, and none that the drain writes. Not the younger `scope`:
# one byte changed in it names no other scope, but for a letter of a folder's name.
SEALED = (*TEXTS, "importance", "queued_at")


def number(raw: bytes) -> int:
    """Return the digest of these bytes."""
    return int.from_bytes(raw, "big") % PRIME


def digest(columns: "Iterable[str]") -> str:
    """Write the SQL for the digest of `columns` or parameters, and of their types; see `register_functions`."""
    names = tuple(columns)
    values = ", ".join((*names, *(f"typeof({name})" for name in names)))
    return f"note_digest(CAST(concat_ws(char(31), {values}) AS BLOB))"


DIGEST = digest(SEALED)
# Whether a row says what was queued; one without a digest is taken at its word.
SOUND = f"(digest IS NULL OR digest = {DIGEST})"


def register_functions(db: "apsw.Connection") -> None:
    """Give a connection the SQL function that digests are made with."""
    db.create_scalar_function("note_digest", lambda *raw: number(raw[0]), 1, deterministic=True)
