"""The order hits are shown in: causes first for why, newest first for when, else best first. Safe on the hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.hit import Hit
    from memman.store.sqlite.reader import SqliteReader


def ordered(reader: "SqliteReader", hits: "list[Hit]", intent: str) -> "list[Hit]":
    """Arrange the hits that are shown; none is added or dropped."""
    if intent == "when":
        return sorted(hits, key=lambda hit: (-hit.row[11], -hit.score, hit.id))
    if intent == "why":
        return _causes_first(reader, hits)
    return hits


def _causes_first(reader: "SqliteReader", hits: "list[Hit]") -> "list[Hit]":
    """Sort topologically along causal edges and succession (Kahn 1962), best first among what is free to go."""
    shown = {hit.id for hit in hits}
    causes: dict[int, set[int]] = {}
    for src, kind, dst, *_ in reader.edges(shown) if shown else ():
        if kind == "causal" and src in shown and dst in shown:
            causes.setdefault(dst, set()).add(src)
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
