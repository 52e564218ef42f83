"""Which hits are worth a line beside the best one. Safe on the hot path.

A hit stands as high as its score is beside the best, and half as much as its confidence beside the surest: 1 for a
hit that is both. What stands far below is nearly always about something else. docs/adr/0031 has the figures.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.hit import Hit

# What confidence counts beside score.
_SURE = 0.5
# How high a hit must stand: one of the FIRST, and any after them, which must not be doubtful either.
NEAR, FIRST, NEARER = 0.5, 5, 0.7


def outstanding(hits: "list[Hit]") -> "list[Hit]":
    """Return the hits, best first, without those far below the best; what was superseded stays with its successor."""
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    surest = max((hit.confidence for hit in hits), default=0.0) or 1.0
    kept: list[Hit] = []
    for hit in hits:
        height = (hit.score / best + _SURE * hit.confidence / surest) / (1 + _SURE)
        early = len(kept) < FIRST
        high = height >= NEAR if early else height >= NEARER and not hit.doubtful
        if high or (hit.behind and any(other.id == hit.behind for other in kept)):
            kept.append(hit)
    return kept
