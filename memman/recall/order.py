"""The order hits are shown in: causes first for why, newest first for when, else best first. Safe on the hot path."""

from memman.recall.hit import Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

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
