"""What a memory was before and became afterwards, as the rows and the log of a store tell it."""

from collections.abc import Mapping

import apsw

from memman.sqlite import LISTED, id_list

# A chain longer than this is told in part.
_LONGEST = 200


def lineage(db: apsw.Connection, memory: int) -> list[int]:
    """Return a memory with all that it took the place of and all that took its own, now or once, oldest first."""
    now = "SELECT superseded_by, id FROM memory WHERE superseded_by IS NOT NULL"
    once = (
        "SELECT n.id, m.id FROM record r JOIN memory m ON m.uid = r.memory"
        " JOIN memory n ON n.uid = r.body ->> '$.now.superseded_by' WHERE r.kind = 'related'"
    )
    before: dict[int, set[int]] = {}
    after: dict[int, set[int]] = {}
    for new, old in db.execute(f"{now} UNION {once}"):
        before.setdefault(new, set()).add(old)
        after.setdefault(old, set()).add(new)
    found = list(dict.fromkeys((*_reached(before, memory), *_reached(after, memory))))[:_LONGEST]
    sql = f"SELECT id FROM memory WHERE id {LISTED} ORDER BY valid_from, id"
    return [row for (row,) in db.execute(sql, (id_list(found),))]


def _reached(steps: Mapping[int, set[int]], start: int) -> list[int]:
    """Return `start` and what can be reached from it, the nearest first."""
    found = {start: None}
    for memory in (queue := [start]):
        for further in sorted(steps.get(memory, set()) - found.keys()):
            found[further] = None
            queue.append(further)
    return list(found)
