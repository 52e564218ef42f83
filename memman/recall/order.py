"""What hits are shown, and in which order. Safe on the hot path.

What is relevant at all, and worth a line beside the best (docs/adr/0054); alike ones once, causes first for why, newest
first for when.
"""

from memman.belief import factor, reliability, sessions, trusted
from memman.model.terms import stems, wording
from memman.recall.hit import FLOOR, SILENT, Hit, confidence
from memman.recall.supersede import orphaned, raised

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memman.recall.hit import Read
    from memman.recall.query import Query
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader
# Hits looked at beyond the limit, to fill the lines that those alike or in doubt leave free.
SPARE = 3
CAUSAL = "causal"
# Hits looked at closely; no recall shows more.
CLOSE = 80
# What confidence counts beside score.
_SURE = 0.5
# How high a hit must stand: one of the FIRST, and any after them, which must not be doubtful either.
NEAR, FIRST, NEARER = 0.4, 5, 0.7


def weighed(reader: "SqliteReader", hits: "list[Hit]", as_of: int | None = None) -> "list[Hit]":
    """Return the hits with scores moved by evidence; superseded ones move along, ended ones stay below."""
    evidence = reader.evidence(hit.id for hit in hits) if hits else {}
    reliable = {
        memory: reliability(*sessions(piece for piece in pieces if as_of is None or piece[2] <= as_of))
        for memory, pieces in evidence.items()
    }
    if not reliable:
        return hits
    moved = [
        hit.having(
            score=hit.score * factor(reliable.get(hit.id if hit.behind is None else hit.behind, 0.5)),
            reliability=reliable.get(hit.id),
        )
        for hit in hits
    ]
    return sorted(moved, key=lambda hit: (hit.read.ended, -hit.score))


def collapsed(hits: "Sequence[Hit]", limit: int) -> "list[Hit]":
    """Return the first `limit` hits that say something new, with those `alike` that each stands for.

    Alike are texts of one `wording`: of 70 pairs it finds 23 of the 30 that say the same and merges none of the 40 that
    must both be read, where likeness by words or cosines merges 7 to 21.
    """
    alike: dict[tuple[object, ...], list[Hit]] = {}
    for hit in hits:
        row = hit.row
        alike.setdefault((row.status, trusted(row.source), *wording(row.text)), []).append(hit)
    return [
        first.having(alike=tuple(other.row.uid for other in others)) if others else first
        for first, *others in list(alike.values())[:limit]
    ]


def ordered(reader: "SqliteReader", hits: list[Hit], intent: str) -> list[Hit]:
    """Arrange the hits that are shown; none is added or dropped."""
    if intent == "when":
        return sorted(hits, key=lambda hit: (-hit.row.valid_from, -hit.score, hit.id))
    if intent == "why":
        return _causes_first(reader, hits)
    return hits


def with_causes(reader: "SqliteReader", hits: list[Hit], filters: "Filters", limit: int) -> list[Hit]:
    """Add what led to the best hits, as sure as these; the least of them make room for it."""
    known = {hit.id: hit for hit in hits}
    led = {edge.src: edge.dst for edge in reader.edges(known) if edge.kind == CAUSAL and edge.dst in known}
    causes = []
    for row in reader.rows(reader.filtered(led.keys() - known.keys(), filters)).values():
        effect = known[led[row.id]]
        causes.append(Hit(row, effect.score, effect.confidence, via=(CAUSAL, effect.id)))
    return sorted([*hits, *causes], key=lambda hit: (-hit.score, hit.via is not None, hit.id))[:limit]


def _causes_first(reader: "SqliteReader", hits: list[Hit]) -> list[Hit]:
    """Sort topologically along causal edges and succession (Kahn 1962), best first among what is free to go."""
    shown = {hit.id for hit in hits}
    causes: dict[int, set[int]] = {}
    for edge in reader.edges(shown) if shown else ():
        if edge.kind == CAUSAL and edge.src in shown and edge.dst in shown:
            causes.setdefault(edge.dst, set()).add(edge.src)
    for hit in hits:
        if hit.behind in shown:
            causes.setdefault(hit.id, set()).add(hit.behind)
    left, placed = list(hits), []
    while left:
        waiting = {hit.id for hit in left}
        # A ring of causes has no beginning: the best hit opens it.
        free = next((hit for hit in left if not causes.get(hit.id, set()) & waiting), left[0])
        left.remove(free)
        placed.append(free)
    return placed


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
