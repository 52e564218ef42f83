"""A replica that its person takes along: a store of their own, with what they did not share."""

from typing import Any

import apsw

from memman.model.vocabulary import OWN
from memman.sqlite import id_list
from memman.store.replica.apply import apply
from memman.store.tables import BESIDE


def keep_own(db: apsw.Connection) -> int:
    """Delete what others see too, and what the replica knew of its server; return how many memories are left."""
    shared: Any = db.execute("SELECT memory FROM authorship WHERE visibility = 'shared'").fetchall()
    ids = [memory for (memory,) in shared]
    gone: dict[str, Any] = {"authorship": (ids, ())}
    for name, sql in BESIDE.items():
        rows: Any = db.execute(sql, (id_list(ids),) * sql.count("?")).fetchall()
        gone[name] = ([group for (group,) in rows], ())
    rules: Any = db.execute("SELECT id FROM rule WHERE scope").fetchall()
    gone["rule"] = ([rule for (rule,) in rules], ())
    apply(db, {name: gone[name] for name in gone if gone[name][0]})
    db.execute("DELETE FROM authorship")
    db.execute("DELETE FROM meta WHERE key GLOB ?", (OWN + "*",))
    return int(db.execute("SELECT count(*) FROM memory").get or 0)
