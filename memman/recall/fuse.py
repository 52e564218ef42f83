"""Candidates by words and by meaning put into one order. Safe on the hot path."""

from memman.model.vocabulary import BUILTIN, MINILM
from memman.recall.hit import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memman.recall.candidates import Candidates
    from memman.recall.query import Query
    from memman.store.sqlite.reader import SqliteReader

# Share of words in the score; meaning has the rest. A broad optimum on conversations, facts, abstracts and coding.
WORDS = 0.5
# Lowest cosine that a query has in practice, below zero, to vectors of each provider: the zero of the scale.
FLOORS = {BUILTIN: 0.1, MINILM: 0.0}
# What the best cosine above that zero counts for at least: where nothing is near, nothing scores high.
_LEAST = 0.1
# The same for the best BM25, in bits of the store's size: about that of two words that one memory alone holds.
_LEAST_BITS = 1.1


def fused(reader: "SqliteReader", query: "Query", candidates: "Candidates", limit: int) -> list[Anchor]:
    """Return anchors for the best candidates, best first; what is of the time asked for counts more."""
    words, cosines = candidates.words, candidates.cosines
    least = _LEAST_BITS * reader.count().bit_length()
    scores = _weighted(candidates.found, words, least, cosines, FLOORS[candidates.provider])
    if query.span:
        scores = _timely(reader, query, scores)
    # What is looked at is judged on the scale of the built-in table.
    shown = cosines if candidates.provider == BUILTIN else {}
    by_words, by_meaning = _ranks(words), _ranks(cosines)
    return [
        Anchor(n, scores[n], words.get(n, 0.0), by_words.get(n, 0), shown.get(n), by_meaning.get(n, 0))
        for n in _ordered(scores)[:limit]
    ]


def _weighted(
    found: "Iterable[int]", words: dict[int, float], least: float, cosines: dict[int, float], floor: float
) -> dict[int, float]:
    """Return the weighted sum of normalised BM25 and cosine of each row; a BM25 below `least` counts in part."""
    most = max(words.values(), default=0.0)
    most = max(most, least) if cosines else most or 1.0
    scale = max(max(cosines.values(), default=0.0) + floor, _LEAST)
    meant = {memory: max((cosine + floor) / scale, 0.0) for memory, cosine in cosines.items()}
    if not meant:
        return {memory: words.get(memory, 0.0) / most for memory in found}
    usual = sum(meant.values()) / len(meant)
    return {memory: WORDS * words.get(memory, 0.0) / most + (1 - WORDS) * meant.get(memory, usual) for memory in found}


def _timely(reader: "SqliteReader", query: "Query", scores: dict[int, float]) -> dict[int, float]:
    """Weigh rows by the time asked for; a question for nothing else leaves out all that is not of it."""
    began = reader.began(scores)
    if query.bare and query.span:
        scores = {memory: score for memory, score in scores.items() if query.span.holds(began[memory])}
    return {memory: score * query.weight(began[memory]) for memory, score in scores.items()}


def _ranks(scores: dict[int, float]) -> dict[int, int]:
    """Return the rank of each row, from 1."""
    return dict(zip(_ordered(scores), range(1, len(scores) + 1), strict=True))


def _ordered(scores: dict[int, float]) -> list[int]:
    """Return the rows, best first, and equals by id."""
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)
