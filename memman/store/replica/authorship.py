"""Who wrote each memory of a replica, who sees it, and who retired it: filled in for what a transaction changed."""

from collections.abc import Iterable
from typing import Any

import apsw

from memman.sqlite import LISTED, id_list
from memman.store.replica.capture import Groups
from memman.store.sqlite.authorship import DEFAULT, role
from memman.store.tables import BESIDE, CHANGED_BY, LINES_LEFT

_CHANGED = "memory IN (SELECT value FROM json_each(:ids))"
_RETIRED = "(SELECT status FROM memory WHERE id = memory) IN ('superseded', 'forgotten')"
_SIGN = (
    f"""INSERT INTO authorship SELECT id, :role, {DEFAULT.format("id")}, '' FROM memory
    WHERE id IN (SELECT value FROM json_each(:ids)) ON CONFLICT DO UPDATE SET author = :role WHERE author = ''""",
    f"UPDATE authorship SET retired_by = :role WHERE retired_by = '' AND {_CHANGED} AND {_RETIRED}",
    f"UPDATE authorship SET retired_by = '' WHERE retired_by <> '' AND {_CHANGED} AND NOT {_RETIRED}",
)


def sign(db: apsw.Connection, role: str, changed: Groups) -> None:
    """Say of memories that were changed who wrote and who retired them: `role`, where nobody else is said to have."""
    ids = {*changed.get("memory", ()), *changed.get("authorship", ())}
    for sql in _SIGN if ids else ():
        db.execute(sql, {"role": role, "ids": id_list(sorted(ids))})


def sign_all(db: apsw.Connection, role: str) -> None:
    """Say who wrote and retired each memory of a store that is to be shared: `role`, if nobody else did."""
    db.execute("UPDATE authorship SET author = ? WHERE visibility = 'private'", (role,))
    sign(db, role, {"memory": [memory for (memory,) in db.execute("SELECT id FROM memory")]})


def unsign_ours(db: apsw.Connection) -> None:
    """Keep only what is said of others, and what we said for whom a memory is: the store is nobody's but ours again."""
    ours = role(db)
    for column in ("author", "retired_by"):
        db.execute(f"UPDATE authorship SET {column} = '' WHERE {column} = ?", (ours,))
    usual = DEFAULT.format("authorship.memory")
    db.execute(f"DELETE FROM authorship WHERE author = '' AND retired_by = '' AND visibility = {usual}")


def told(db: apsw.Connection, changed: Groups) -> dict[str, list[Any]]:
    """Return what is to be sent: of a memory whose visibility may have changed all, with its receipts."""
    sent = {name: list(groups) for name, groups in changed.items()}
    signed = sent.get("authorship", ())
    for name, sql in BESIDE.items() if signed else ():
        _add(db, sent, name, sql, signed)
    _add(db, sent, "log", LINES_LEFT, changed.get("log", ()))
    if before := set(signed).difference(changed.get("memory", ())):
        _add(db, sent, "receipt", CHANGED_BY, before)
    return {name: groups for name, groups in sent.items() if groups}


def _add(db: apsw.Connection, sent: dict[str, list[Any]], name: str, sql: str, ids: Iterable[int]) -> None:
    more: Any = db.execute(sql, (id_list(ids),) * sql.count(LISTED))
    sent[name] = list(dict.fromkeys((*sent.get(name, ()), *(group for (group,) in more))))
