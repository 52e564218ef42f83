"""Recall in a reranker's order, where that is asked for; whatever goes wrong, the local order stands."""

from memman.config.env import Settings
from memman.model.errors import MemmanError
from memman.model.terms import words
from memman.recall.labels import standing_back
from memman.recall.order import ordered
from memman.recall.supersede import by_reranker, newer_first
from memman.rerank import reranker
from memman.secrets.matcher import redact
from memman.sqlite import TranslatedErrors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.hot.recall_session import RecallSession
    from memman.recall.hit import Hit
    from memman.store.filters import Filters

# Hits that are judged, and characters sent of each: with more, the answer comes too late.
CANDIDATES = 30
LONGEST = 2_000
# Fewer words say too little to judge by.
FEWEST_WORDS = 3


def reranked(
    recalls: "RecallSession", data: str, query: str, filters: "Filters", limit: int, intent: str | None
) -> "tuple[list[Hit], str]":
    """Return the best hits by the reranker and '', or those in the local order and why."""
    if len(words(query)) < FEWEST_WORDS:
        return recalls.hits(query, filters, limit, intent), f"the query has fewer than {FEWEST_WORDS} words"
    hits = recalls.hits(query, filters.uncut(), max(limit, CANDIDATES), intent)
    if len(hits) > 1:
        try:
            hits = _judged(data, query, hits)
        except MemmanError as error:
            return recalls.hits(query, filters, limit, intent), str(error)
        hits = _arranged(recalls, by_reranker(hits), limit, intent)
    return hits[:limit], ""


def _judged(data: str, query: str, hits: "list[Hit]") -> "list[Hit]":
    """Return every hit with its score. Raises what Settings and RemoteReranker raise."""
    model = reranker(Settings.load(data))
    # First redacted, then cut: no cut lets half a secret through.
    scores = model.scores(redact(query)[:LONGEST], [redact(hit.row.text)[:LONGEST] for hit in hits])
    return [hit.having(rerank=score) for hit, score in zip(hits, scores, strict=True)]


def _arranged(recalls: "RecallSession", hits: "list[Hit]", limit: int, intent: str | None) -> "list[Hit]":
    best = standing_back(newer_first(hits))[:limit]
    if recalls.reader is None or not intent:
        return best
    with TranslatedErrors(recalls.path):
        return newer_first(ordered(recalls.reader, best, intent))
