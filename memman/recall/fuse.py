"""Candidates by words and by meaning put into one order. Safe on the hot path."""

from memman.recall.hit import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.candidates import Candidates
    from memman.recall.query import Query
    from memman.store.sqlite.reader import SqliteReader

# What the query's words count beside its meaning (docs/adr/0054).
WORDS = 0.25


def fused(reader: "SqliteReader", query: "Query", candidates: "Candidates", limit: int) -> list[Anchor]:
    """Return anchors for the best candidates, best first; what is of the time asked for counts more."""
    words, cosines = candidates.words, candidates.cosines
    # Where a row has no vector, or the query none, it is taken for as near as the others are.
    usual = sum(cosines.values()) / len(cosines) if cosines else 0.0
    scores = {n: max(cosines.get(n, usual), 0.0) + WORDS * words.get(n, 0.0) for n in candidates.found}
    if query.span:
        scores = _timely(reader, query, scores)
    by_words, by_meaning = _ranks(words), _ranks(cosines)
    return [
        Anchor(n, scores[n], words.get(n, 0.0), by_words.get(n, 0), cosines.get(n), by_meaning.get(n, 0))
        for n in _ordered(scores)[:limit]
    ]


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
