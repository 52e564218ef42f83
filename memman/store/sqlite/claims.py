"""What unconfirmed memories contradict of what people stand behind, told of a whole store, and forgotten."""

import json

import apsw

from memman.model.vocabulary import CLAIMS
from memman.store.sqlite.unconfirmed import SURELY, UNCONFIRMED


def standing(db: apsw.Connection) -> list[tuple[int, int, bool]]:
    """Return (contradicted memory, the one that does, whether surely) of all in force, newest first."""
    sql = (
        f"SELECT o.id, m.id, said.value = '{SURELY}' FROM meta"
        f" CROSS JOIN memory m ON m.uid = substr(meta.key, {len(CLAIMS) + 1}) AND m.status = 'current'"
        " CROSS JOIN json_each(meta.value) said CROSS JOIN memory o ON o.uid = said.key AND o.status = 'current'"
        f" WHERE meta.key GLOB '{CLAIMS}*' AND {UNCONFIRMED} ORDER BY 2 DESC, 1 DESC"
    )
    return [(old, new, bool(sure)) for old, new, sure in db.execute(sql)]


def of(db: apsw.Connection, uid: str) -> dict[str, str]:
    """Return what the memory `uid` says that it contradicts, and how surely, by uid."""
    said = db.execute("SELECT value FROM meta WHERE key = ?", (CLAIMS + uid,)).get
    found: dict[str, str] = json.loads(said or "{}")
    return found
