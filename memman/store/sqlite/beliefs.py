"""What memories are believed by, which only agents have said so far, and what these contradict. Hot."""

from memman.belief import AGENT, BEARS_OUT, Statement
from memman.sqlite import LISTED, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

# What is contradicted: its row, its uid, and whether it surely is.
Claim = tuple[int, str, bool]
_IN_FORCE = (
    "o.status = 'current' AND (?2 IS NULL OR o.recorded_at <= ?2)"
    " OR o.status = 'superseded' AND o.recorded_at <= ?2 AND o.retired_at > ?2"
)
# That a memory `m` is unconfirmed: `Statement.lone`.
UNCONFIRMED = (
    f"m.source = '{AGENT}' AND NOT EXISTS (SELECT 1 FROM mark WHERE memory = m.id AND protected)"
    f" AND NOT EXISTS (SELECT 1 FROM evidence WHERE memory = m.id AND kind IN {BEARS_OUT})"
)

_STATEMENTS = f"""
SELECT m.id, m.source, (SELECT group_concat(DISTINCT kind) FROM evidence WHERE memory = m.id),
    (SELECT ends_at FROM freshness WHERE memory = m.id), (SELECT scope FROM scoped WHERE memory = m.id),
    (SELECT protected FROM mark WHERE memory = m.id)
FROM memory m WHERE m.id {LISTED}
"""


def statements(db: "apsw.Connection", ids: "Iterable[int]") -> dict[int, Statement]:
    """Return what each of `ids` is believed by."""
    found = {}
    for row, source, kinds, ends_at, scope, protected in db.execute(_STATEMENTS, (id_list(ids),)):
        evidence = kinds.split(",") if kinds else ()
        found[row] = Statement(source, evidence, ends_at=ends_at, place=bool(scope), protected=bool(protected))
    return found


def contradicts(db: "apsw.Connection", ids: "Iterable[int]", as_of: int | None) -> dict[int, list[Claim]]:
    """Return what each of `ids` contradicts that is in force, or was `as_of` a moment, what it surely does first."""
    sql = (
        "SELECT m.id, o.id, o.uid, claim.sure FROM json_each(?1) asked CROSS JOIN claim ON claim.memory = asked.value"
        " CROSS JOIN memory m ON m.id = claim.memory CROSS JOIN memory o ON o.id = claim.against"
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
