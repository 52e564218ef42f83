"""Which memories a person means by more than ids: all of a session, of a scope, or of a source."""

import apsw

_BY = {
    "session": "note IN (SELECT note FROM receipt WHERE session = ?1)",
    "source": "source = ?1",
    "scope": (
        "coalesce((SELECT repository FROM scoped JOIN scope ON scope.id = scope WHERE memory = memory.id), '') = ?1"
    ),
}


def uids(db: apsw.Connection, by: str, value: str) -> list[str]:
    """Return the uids of memories by `session`, `source` or `scope` (a repository), hidden ones too."""
    return [uid for (uid,) in db.execute(f"SELECT uid FROM memory WHERE {_BY[by]} ORDER BY id", (value,))]
