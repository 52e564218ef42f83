"""Which memories only agents have said so far, and what they contradict. Safe on the hot path."""

from memman.model.vocabulary import CLAIMS, PROTECTED
from memman.sqlite import LISTED, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

# What bears a memory out: the user, or an independent session, said the same, or a person approved or verified it.
SAID, APPROVED, VERIFIED = "said", "approved", "verified"
BEARS_OUT = (SAID, APPROVED, VERIFIED)
# How sure it is that one contradicts another.
SURELY, MAYBE = "surely", "maybe"
# What is contradicted: its row, its uid, and whether it surely is.
Claim = tuple[int, str, bool]
_IN_FORCE = (
    "o.status = 'current' AND (?2 IS NULL OR o.recorded_at <= ?2)"
    " OR o.status = 'superseded' AND o.recorded_at <= ?2 AND o.retired_at > ?2"
)
# That a memory `m` is unconfirmed.
UNCONFIRMED = (
    f"m.source = 'agent' AND NOT EXISTS (SELECT 1 FROM meta WHERE key = '{PROTECTED}' || m.uid)"
    f" AND NOT EXISTS (SELECT 1 FROM evidence WHERE memory = m.id AND kind IN {BEARS_OUT})"
)


def unconfirmed(db: "apsw.Connection", ids: "Iterable[int]") -> set[int]:
    """Return those of `ids` that are unconfirmed."""
    sql = f"SELECT m.id FROM memory m WHERE m.id {LISTED} AND {UNCONFIRMED}"
    return {memory for (memory,) in db.execute(sql, (id_list(ids),))}


def contradicts(db: "apsw.Connection", ids: "Iterable[int]", as_of: int | None) -> dict[int, list[Claim]]:
    """Return what each of `ids` contradicts that is in force, or was `as_of` a moment, what it surely does first."""
    sql = (
        f"SELECT m.id, o.id, o.uid, said.value = '{SURELY}' FROM json_each(?1) asked"
        f" CROSS JOIN memory m ON m.id = asked.value CROSS JOIN meta ON meta.key = '{CLAIMS}' || m.uid"
        f" CROSS JOIN json_each(meta.value) said CROSS JOIN memory o ON o.uid = said.key"
        f" WHERE ({_IN_FORCE}) AND {UNCONFIRMED} ORDER BY 1, 4 DESC, 2"
    )
    found: dict[int, list[Claim]] = {}
    for new, old, uid, sure in db.execute(sql, (id_list(ids), as_of)):
        found.setdefault(new, []).append((old, uid, bool(sure)))
    return found


def shown_in(db: "apsw.Connection", session: str, ids: "Iterable[int]") -> set[int]:
    """Return those of `ids` that a session was shown."""
    sql = f"SELECT memory FROM shown WHERE memory {LISTED} AND session = ?"
    return {memory for (memory,) in db.execute(sql, (id_list(ids), session))}
