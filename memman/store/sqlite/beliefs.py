"""What memories are believed by, which only agents have said so far, what these contradict, what is doubted. Hot."""

from memman.belief import AGENT, BEARS_OUT, UNWANTED, Statement
from memman.model.vocabulary import CATEGORIES
from memman.sqlite import LISTED, id_list

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

    from memman.store.sqlite.reader import SqliteReader

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

_HOLDS = """
WITH RECURSIVE step(id, next) AS (
    SELECT m.id, superseded_by FROM mark JOIN memory m ON m.id = maybe WHERE memory = ?
    UNION SELECT m.id, m.superseded_by FROM step JOIN memory m ON m.id = step.next
)
SELECT id FROM step WHERE next IS NULL
"""
_CLAIMED = (
    "SELECT o.id, m.id, claim.sure FROM claim JOIN memory m ON m.id = claim.memory AND m.status = 'current'"
    f" JOIN memory o ON o.id = against AND o.status = 'current' WHERE {UNCONFIRMED} ORDER BY m.id DESC, o.id DESC"
)


def statements(db: "apsw.Connection", ids: "Iterable[int]") -> dict[int, Statement]:
    """Return what each of `ids` is believed by."""
    found = {}
    for row, source, kinds, ends_at, scope, protected in db.execute(_STATEMENTS, (id_list(ids),)):
        evidence = kinds.split(",") if kinds else ()
        found[row] = Statement(source, evidence, ends_at=ends_at, place=bool(scope), protected=bool(protected))
    return found


def marked(db: "apsw.Connection", memory: int) -> int:
    """Return what a memory is marked as maybe replaced by, 0 for nothing."""
    return db.execute("SELECT maybe FROM mark WHERE memory = ?", (memory,)).get or 0


def newer(db: "apsw.Connection", memory: int) -> int:
    """Return what holds in the place of what a memory is maybe replaced by, 0 for nothing."""
    return db.execute(_HOLDS, (memory,)).get or 0


def leading_back(db: "apsw.Connection", old: int, new: int) -> int:
    """Return whose mark leads from `new`, by way of others or at once, back to `old`; 0 where none does."""
    passed = [old]
    while new and new not in passed:
        passed.append(new)
        new = newer(db, new)
    return passed[-1] if new else 0


def claimed(db: "apsw.Connection") -> list[tuple[int, int, bool]]:
    """Return (contradicted memory, the unconfirmed one that does, whether surely) of all in force, newest first."""
    return [(old, new, bool(sure)) for old, new, sure in db.execute(_CLAIMED)]


def lone(db: "apsw.Connection", categories: "Sequence[str]" = CATEGORIES) -> list[int]:
    """Return the current memories of some categories that only agents have said, newest first."""
    marks = ", ".join("?" * len(categories))
    sql = f"SELECT m.id FROM memory m WHERE m.status = 'current' AND m.category IN ({marks}) AND {UNCONFIRMED}"
    return [memory for (memory,) in db.execute(f"{sql} ORDER BY m.id DESC", categories)]


def unwanted(db: "apsw.Connection") -> list[int]:
    """Return the current memories that an agent asks to be forgotten, newest first."""
    sql = (
        "SELECT DISTINCT m.id FROM evidence e JOIN memory m ON m.id = e.memory AND m.status = 'current'"
        " WHERE e.kind = ? ORDER BY m.id DESC"
    )
    return [memory for (memory,) in db.execute(sql, (UNWANTED,))]


def contradicted(reader: "SqliteReader") -> dict[int, int]:
    """Return what an unconfirmed memory took the place of though it was no agent's guess itself, newest first."""
    sql = (
        "SELECT old.id, m.id FROM memory m JOIN memory old ON old.superseded_by = m.id AND old.status = 'superseded'"
        f" WHERE m.status = 'current' AND {UNCONFIRMED} ORDER BY m.id DESC, old.id DESC"
    )
    found = dict(reader.db.execute(sql))
    guesses = reader.unconfirmed(found)
    return {old: new for old, new in found.items() if old not in guesses}


def why_against(reader: "SqliteReader", new: str, old: str) -> str:
    """Return the reason that the log gives for what the memory `new` last said it contradicts the memory `old`."""
    sql = (
        "SELECT after ->> '$.why' FROM log WHERE memory = ? AND verb = 'contradict' AND after ->> '$.against' = ?"
        " ORDER BY id DESC LIMIT 1"
    )
    return str(reader.db.execute(sql, (new, old)).get or "")


def why(reader: "SqliteReader", uid: str) -> str:
    """Return the reason that the log gives for what happened to a memory last, '' for none."""
    sql = (
        "SELECT after ->> '$.why' FROM log WHERE memory = ? AND verb IN ('hold', 'doubt', 'supersede')"
        " ORDER BY id DESC LIMIT 1"
    )
    return str(reader.db.execute(sql, (uid,)).get or "")
