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
    """Return the hits, best first, without those far below the best.

    What was superseded stays or goes with its successor, which stands as high as the higher of the two.
    """
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    surest = max((hit.confidence for hit in hits), default=0.0) or 1.0
    heights = {hit.id: (hit.score / best + _SURE * hit.confidence / surest) / (1 + _SURE) for hit in hits}
    for hit in hits:
        if hit.behind in heights:
            heights[hit.behind] = max(heights[hit.behind], heights[hit.id])
    kept: dict[int, Hit] = {}
    for hit in hits:
        if hit.behind in heights:
            worth = hit.behind in kept
        elif len(kept) < FIRST:
            worth = heights[hit.id] >= NEAR
        else:
            worth = heights[hit.id] >= NEARER and not hit.doubtful
        if worth:
            kept[hit.id] = hit
    return [*kept.values()]
