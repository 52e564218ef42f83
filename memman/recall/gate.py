"""What is relevant at all, and what is worth a line beside the best (docs/adr/0054). Safe on the hot path."""

from memman.model.terms import stems
from memman.recall.confidence import FLOOR, SILENT, confidence
from memman.recall.hit import Hit
from memman.recall.supersede import orphaned, raised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.hit import Read
    from memman.recall.query import Query

# Hits looked at closely; no recall shows more.
CLOSE = 80
# What confidence counts beside score.
_SURE = 0.5
# How high a hit must stand: one of the FIRST, and any after them, which must not be doubtful either.
NEAR, FIRST, NEARER = 0.4, 5, 0.7


def gated(reads: "list[Read]", query: "Query", limit: int, least: float | None = None) -> list[Hit]:
    """Return the first `limit` with evidence as hits, best first; with `least` all that are so sure."""
    floor, asked = FLOOR if least is None else least, stems(query.about or query.text)
    kept: dict[int, Hit] = {}
    for read in reads:
        if len(kept) == limit:
            break
        if not orphaned(read, kept) and (hit := _hit(read, query, asked)).confidence >= floor:
            kept[hit.id] = hit
    if least is None and max((hit.confidence for hit in kept.values()), default=0.0) < SILENT:
        return []
    # Whatever is of the time answers a question for a time and nothing else.
    return [hit.having(confidence=1.0) if query.bare else hit for hit in kept.values()]


def _hit(read: "Read", query: "Query", asked: frozenset[str]) -> Hit:
    """Weigh a memory; what took another's place by whichever text holds more of the question's stems."""
    texts = [query.told(f"{row.text} {row.entities} {row.keywords}") for row in (read.row, read.former) if row]
    coverage = max(len(asked & stems(text)) for text in texts) / len(asked) if asked else 0.0
    cosine = read.anchor.cosine
    return Hit(read.row, read.score, confidence(cosine, coverage), coverage, cosine, read)


def outstanding(hits: list[Hit]) -> list[Hit]:
    """Return the hits without those far below the best; superseded ones stay or go with their successor."""
    standing = heights(hits)
    kept: dict[int, Hit] = {}
    for hit in hits:
        if hit.behind in standing:
            worth = not orphaned(hit, kept)
        elif len(kept) < FIRST:
            worth = standing[hit.id] >= NEAR
        else:
            worth = standing[hit.id] >= NEARER and not hit.doubtful
        if worth:
            kept[hit.id] = hit
    return [*kept.values()]


def heights(hits: list[Hit]) -> dict[int, float]:
    """Return how high each hit stands beside the best."""
    best = max((hit.score for hit in hits), default=0.0) or 1.0
    surest = max((hit.confidence for hit in hits), default=0.0) or 1.0
    each = {hit.id: (hit.score / best + _SURE * hit.confidence / surest) / (1 + _SURE) for hit in hits}
    return raised(hits, each)
