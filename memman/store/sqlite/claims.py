"""What unconfirmed memories contradict of what people stand behind, told of a whole store, and forgotten."""

import json
from collections.abc import Iterable
from typing import Any

import apsw

from memman.model.vocabulary import CLAIMS, PROTECTED
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


def unprotected(db: apsw.Connection, uids: Iterable[str]) -> list[tuple[int, str]]:
    """Return (id, uid) of those of `uids` that nobody protects."""
    sql = (
        "SELECT id, uid FROM memory WHERE uid IN (SELECT value FROM json_each(?))"
        f" AND NOT EXISTS (SELECT 1 FROM meta WHERE key = '{PROTECTED}' || uid) ORDER BY id"
    )
    found: list[Any] = db.execute(sql, (json.dumps(list(uids)),)).fetchall()
    return found
