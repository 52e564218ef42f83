"""Other names of things, as the memories of a store say them. Safe on the hot path.

Names are written as `memman.model.terms.name` writes them, both ways round, so
that a look-up is one probe. An alias counts while a memory that says so is current.
"""

from memman.store.sqlite.reader import LISTED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

# A question is widened by no more names than this.
MOST = 12


def known(db: "apsw.Connection", names: "Iterable[str]", current: str = "m.status = 'current'") -> list[tuple[str, str]]:
    """Return (name, other name) for those of `names` that have another; `current` is a condition on memory `m`."""
    listed = ",".join(f'"{name}"' for name in names)
    sql = (
        "SELECT DISTINCT a.name, a.means FROM alias a JOIN memory m ON m.id = a.memory"
        f" WHERE a.name {LISTED} AND {current} ORDER BY a.name, a.means LIMIT ?"
    )
    return list(db.execute(sql, (f"[{listed}]", MOST)))


def put(db: "apsw.Connection", memory: int, pairs: "Iterable[tuple[str, str]]") -> None:
    """Store that `memory` says two names mean the same. Runs inside the caller's transaction."""
    rows = [(*ends, memory) for one, other in pairs for ends in ((one, other), (other, one))]
    db.executemany("INSERT INTO alias VALUES (?, ?, ?) ON CONFLICT DO NOTHING", rows)
