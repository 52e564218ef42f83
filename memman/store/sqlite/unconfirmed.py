"""Which memories only agents have said so far. Safe on the hot path.

Recorded evidence bears such a memory out, or a person who protects it.
"""

from memman.model.vocabulary import PROTECTED
from memman.sqlite import LISTED, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

# What bears a memory out: the user, or an independent session, said the same, or a person approved or verified it.
SAID, APPROVED, VERIFIED = "said", "approved", "verified"


def condition(*, evidence: bool) -> str:
    """Write that a memory `m` is unconfirmed, in a store that keeps evidence or none yet."""
    borne_out = f"SELECT 1 FROM evidence WHERE memory = m.id AND kind IN ('{SAID}', '{APPROVED}', '{VERIFIED}')"
    protected = f"SELECT 1 FROM meta WHERE key = '{PROTECTED}' || m.uid"
    found = [protected, borne_out] if evidence else [protected]
    return "m.source = 'agent'" + "".join(f" AND NOT EXISTS ({one})" for one in found)


def unconfirmed(db: "apsw.Connection", ids: "Iterable[int]", *, evidence: bool) -> set[int]:
    """Return those of `ids` that are unconfirmed."""
    sql = f"SELECT m.id FROM memory m WHERE m.id {LISTED} AND {condition(evidence=evidence)}"
    return {memory for (memory,) in db.execute(sql, (id_list(ids),))}


def shown_in(db: "apsw.Connection", session: str, ids: "Iterable[int]") -> set[int]:
    """Return those of `ids` that a session was shown."""
    sql = f"SELECT memory FROM shown WHERE memory {LISTED} AND session = ?"
    return {memory for (memory,) in db.execute(sql, (id_list(ids), session))}
