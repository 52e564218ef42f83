"""A topic's page: the lines under it that hold now, the newest first. Hot.

Each line says whose word it is, and what speaks against it. A page is read from the memories each time.
"""

import time

from memman.belief import TRUSTED, UNCERTAIN
from memman.recall.hit import Hit
from memman.recall.labels import labelled
from memman.recall.supersede import chain, marked
from memman.store.filters import Filters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memman.store import MemoryRow
    from memman.store.sqlite.reader import SqliteReader


def page(
    reader: "SqliteReader", ids: "Iterable[int]", scopes: "frozenset[int] | None", worst: int = UNCERTAIN
) -> list[Hit]:
    """Return these memories as the lines of a page, those of `scopes` that stand no worse than `worst`."""
    filters = Filters(scopes=scopes)
    rows = sorted(reader.shown_rows(reader.filtered(ids, filters)), key=lambda row: (-row.valid_from, -row.id))
    return [hit for hit in newest(reader, rows, filters) if hit.standing <= worst]


def newest(reader: "SqliteReader", rows: "Sequence[MemoryRow]", filters: Filters) -> list[Hit]:
    """Return memories as they stand, the newer one before each that is maybe replaced, which says so."""

    def trusted(ids: "Iterable[int]") -> "list[MemoryRow]":
        ids = reader.filtered(ids, filters)
        ids -= reader.unconfirmed(ids)
        return [row for row in reader.shown_rows(sorted(ids)) if row.source in TRUSTED]

    known = marked(reader, (Hit(row, score=0.0, confidence=1.0) for row in rows), trusted, None, filters.scopes)
    told = labelled(reader, [*known.values()], time.time_ns() // 1_000_000)
    known = {hit.row.uid: hit for hit in told}
    placed = (one for row in rows for one in reversed(chain(known[row.uid], known)))
    return [one for one in {one.row.uid: one for one in placed}.values() if not one.ended]
