"""What hits are shown, and in which order: alike ones once, causes first for why, newest first for when. Hot."""

from memman.belief import factor, reliability, sessions, trusted
from memman.model.terms import wording
from memman.recall.hit import Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader


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


# Hits looked at beyond the limit, to fill the lines that those alike or in doubt leave free.
SPARE = 3


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


CAUSAL = "causal"


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
