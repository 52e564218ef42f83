"""A beam walk over the edges around the best anchors, with the intent's weights. Safe on the hot path.

What the walk finds never outranks what led to it: the graph adds and explains,
relevance decides.
"""

from memman.recall.hit import Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# How readily each kind of edge is followed, by intent (the shape of memman 0.15.3's table).
WEIGHTS = {
    "why": {"causal": 0.9, "temporal": 0.3, "entity": 0.1, "semantic": 0.2},
    "when": {"causal": 0.2, "temporal": 0.7, "entity": 0.2, "semantic": 0.2},
    "entity": {"causal": 0.1, "temporal": 0.1, "entity": 0.6, "semantic": 0.4},
    "general": {"causal": 0.3, "temporal": 0.3, "entity": 0.3, "semantic": 0.3},
}
# The guessed intent that is worth a walk; for the others it changes no figure of retrieval, so they must ask for it.
WALKED = "why"
STARTS = 5
BEAM = 10
DEPTH = 2


def walk(reader: "SqliteReader", hits: "list[Hit]", filters: "Filters", intent: str) -> "list[Hit]":
    """Add the memories that edges lead to from the best hits, scored below what led there."""
    weights = WEIGHTS[intent]
    known = {hit.id: hit for hit in hits}
    frontier = {hit.id: hit.score for hit in hits[:STARTS]}
    found: dict[int, Hit] = {}
    for _ in range(DEPTH):
        steps: dict[int, tuple[float, str, int]] = {}
        for _, kind, _, weight, _, near, far in reader.edges(frontier) if frontier else ():
            score = frontier.get(near, 0.0) * weights[kind] * weight
            if far not in frontier and score > steps.get(far, (0.0,))[0]:
                steps[far] = score, kind, near
        best = sorted(steps.items(), key=lambda step: (-step[1][0], step[0]))[:BEAM]
        frontier = {}
        for memory, (score, kind, near) in best:
            if memory in found:
                continue
            frontier[memory] = score
            hit = known.get(memory) or found.setdefault(memory, Hit(memory))
            if hit.via is None and (memory in found or kind == "causal"):
                hit.via = kind, near
            hit.score = max(hit.score, score)
    new = reader.filtered(found, filters) if found else set()
    hits = [*hits, *(hit for memory, hit in found.items() if memory in new)]
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits
