"""Recall in a reranker's order: a model elsewhere judges the best local hits. Loaded only where that is asked for.

Whatever goes wrong, the local order stands.
"""

from math import inf

from memman.config.env import Settings
from memman.model.errors import MemmanError
from memman.model.terms import words
from memman.recall.order import ordered
from memman.recall.succession import heirs, newer_first
from memman.rerank import reranker
from memman.secrets.matcher import redact
from memman.sqlite import Guard

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.hot.found import Shelf
    from memman.recall.hit import Hit
    from memman.store.filters import Filters

# Hits that are judged, and characters sent of each: with more, the answer comes too late.
CANDIDATES = 30
LONGEST = 2_000
# Fewer words say too little to judge by.
FEWEST_WORDS = 3


def reranked(
    shelf: "Shelf", data: str, query: str, filters: "Filters", limit: int, intent: str | None
) -> "tuple[list[Hit], str]":
    """Return the best hits by the reranker and '', or those in the local order and why.

    They come best first, or in the order of an `intent` that is asked for.
    """
    if len(words(query)) < FEWEST_WORDS:
        return shelf.hits(query, filters, limit, intent), f"the query has fewer than {FEWEST_WORDS} words"
    hits = shelf.hits(query, filters.uncut(), max(limit, CANDIDATES), intent)
    if len(hits) > 1:
        try:
            _judge(data, query, hits)
        except MemmanError as error:
            return shelf.hits(query, filters, limit, intent), str(error)
        hits = _arranged(shelf, hits, filters, limit, intent)
    return hits[:limit], ""


def _judge(data: str, query: str, hits: "list[Hit]") -> None:
    """Have every hit scored. Raises what Settings and Reranker raise."""
    model = reranker(Settings.load(data))
    # First redacted, then cut: no cut lets half a secret through.
    scores = model.scores(redact(query)[:LONGEST], [redact(hit.row[3])[:LONGEST] for hit in hits])
    for hit, score in zip(hits, scores, strict=True):
        hit.rerank = score


def _arranged(shelf: "Shelf", hits: "list[Hit]", filters: "Filters", limit: int, intent: str | None) -> "list[Hit]":
    if shelf.reader is None:
        return _ordered(hits, {})
    with Guard(shelf.path):
        best = newer_first(_ordered(hits, heirs(shelf.reader, hits, filters) if filters.history else {}))[:limit]
        return newer_first(ordered(shelf.reader, best, intent)) if intent else best


def _ordered(hits: "list[Hit]", ahead: dict[int, int]) -> "list[Hit]":
    """Sort by the reranker's scores; what is superseded stays below the memory `ahead` of it."""
    scores = {hit.id: hit.rerank or 0.0 for hit in hits}

    def place(hit: "Hit") -> tuple[float, bool, float]:
        score, most = hit.rerank or 0.0, scores.get(ahead.get(hit.id, -1), inf)
        return -min(score, most), hit.id in ahead, -hit.score

    return sorted(hits, key=place)
