"""Hits that say the same are shown once. Safe on the hot path.

Alike are texts of one `wording`. No looser rule is safe. Of the 70 pairs of its test, 30 say the same and 40 must both
be read ("30 s" and "60 s", "tabs" and "never tabs", "from A to B" and "from B to A"):

| rule                              | same, found | different, merged |
| --------------------------------- | ----------- | ----------------- |
| this one                          | 23 of 30    | 0 of 40           |
| Jaccard of stems at least 0.8     | 21          | 14                |
| Jaccard of stems at least 0.95    | 7           | 7                 |
| the same, stop words out, 1.0     | 27          | 16                |
| cosine at least 0.95 / 0.99       | 27 / 23     | 16 / 8            |
| sign codes within 20 / 10 bits    | 23 / 18     | 11 / 7            |
"""

from memman.model.terms import wording
from memman.model.trust import unverified

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
        alike.setdefault((row.status, unverified(row.source), *wording(row.text)), []).append(hit)
    return [
        first.having(alike=tuple(other.row.uid for other in others)) if others else first
        for first, *others in list(alike.values())[:limit]
    ]
