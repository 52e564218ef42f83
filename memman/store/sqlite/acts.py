"""What was done to memories without a note: which were forgotten, and which reported, in a session or since a time."""

import apsw

from memman.model.reliability import FEEDBACK

# The key of a row of evidence: memory, kind, session.
Report = tuple[int, str, str]
# Verbs of the log that put a memory out of recall; a person's no to what waited for review is none of them.
_RETIRED = "('forget', 'archive')"
_SESSION = "json_extract(after, '$.session')"
_REPORTS = f"SELECT memory, kind, session FROM evidence WHERE kind IN {FEEDBACK}"


def sessions(db: apsw.Connection) -> list[str]:
    """Return the sessions that forgot or reported something."""
    sql = f"SELECT {_SESSION} AS session FROM log WHERE verb IN {_RETIRED} AND session <> ''"
    return [one for (one,) in db.execute(f"{sql} UNION SELECT session FROM ({_REPORTS}) WHERE session <> ''")]


def of_session(db: apsw.Connection, session: str) -> tuple[list[int], list[Report]]:
    """Return the memories that a session forgot and that are forgotten still, and its reports."""
    return _forgotten(db, f"{_SESSION} = ?", session), [*db.execute(f"{_REPORTS} AND session = ?", (session,))]


def by_agents(db: apsw.Connection, session: str, moment: int) -> int:
    """Count what agents forgot in a session; without one, what they forgot in none since a moment."""
    sql = (
        f"SELECT count(*) FROM log WHERE verb = 'forget' AND json_extract(after, '$.agent') <> ''"
        f" AND coalesce({_SESSION}, '') = ?1 AND (?1 <> '' OR at >= ?2)"
    )
    return int(db.execute(sql, (session, moment)).get)


def since(db: apsw.Connection, moment: int) -> tuple[list[int], list[Report]]:
    """Return the memories that were forgotten at a moment or later and are still, and the reports since then."""
    return _forgotten(db, "at >= ?", moment), [*db.execute(f"{_REPORTS} AND at >= ?", (moment,))]


def _forgotten(db: apsw.Connection, where: str, value: str | int) -> list[int]:
    last = f"SELECT max(id) FROM log WHERE verb IN {_RETIRED} GROUP BY memory"
    sql = (
        f"SELECT m.id FROM log l JOIN memory m ON m.uid = l.memory WHERE m.status = 'forgotten' AND l.id IN ({last})"
        f" AND {where} ORDER BY m.id"
    )
    return [memory for (memory,) in db.execute(sql, (value,))]
