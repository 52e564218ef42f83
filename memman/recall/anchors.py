"""Where recall starts: the best rows by words and by meaning, fused into one score. Safe on the hot path."""

from memman.embed.static import query_planes, sign_code
from memman.model.vocabulary import BUILTIN, MINILM
from memman.recall.hit import Hit
from memman.recall.signals import ALL
from memman.recall.worded import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memman.embed.static import StaticTable
    from memman.recall.query import Query
    from memman.recall.signals import Signals
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# Rows each search contributes. Of the exact top 10 by cosine 97 % are among the nearest 100 sign codes; 80, 120 and
# 200 rank alike to a tenth of a point.
POOL = 100
# Share of words in the score; meaning has the rest. A broad optimum on conversations, facts, abstracts and coding.
WORDS = 0.5
# Lowest cosine that a query has in practice, below zero, to vectors of each provider: the zero of the scale.
FLOORS = {BUILTIN: 0.1, MINILM: 0.0}
# What the best cosine above that zero counts for at least: where nothing is near, nothing scores high.
_LEAST = 0.1
# The same for the best BM25, in bits of the store's size: about that of two words that one memory alone holds.
_LEAST_BITS = 1.1


def anchors(
    reader: "SqliteReader", table: "StaticTable", query: "Query", filters: "Filters", signals: "Signals" = ALL
) -> "list[Hit]":
    """Return every row that words or meaning bring up, best first; what is of the time asked for counts more."""
    span = query.span
    # The time asked for is searched by itself too: in a large store the whole of it crowds that time out.
    searched = [filters, filters.within(reader.window(span.start, span.end))] if span else [filters]
    words: dict[int, float] = {}
    for part in searched if signals.words else ():
        words |= worded(reader, query, part, POOL, context=signals.context)
    held = reader.held(searched[-1], span.start, span.end, POOL) if span and query.bare else ()
    found = dict.fromkeys((*words, *held))
    cosines: dict[int, float] = {}
    number, provider = reader.searched(f"{table.model}-v{table.version}", table.dimension) or (None, BUILTIN)
    vector = table.vector(query.text)
    if number is not None and signals.meaning and any(vector):
        code = sign_code(vector)
        cells = reader.cells_around(number, code)
        for part in searched:
            found |= dict.fromkeys(memory for memory, _ in reader.nearest(number, code, part, POOL, cells))
        cosines = reader.cosines(number, query_planes(vector), found)
    least = _LEAST_BITS * reader.count().bit_length()
    scores = fused(found, words, least, cosines, FLOORS[provider])
    if span:
        scores = _timely(reader, query, scores)
    # What is looked at is judged on the scale of the built-in table.
    shown = cosines if provider == BUILTIN else {}
    return _hits(scores, words, shown, _places(words), _places(cosines))


def fused(
    found: "Iterable[int]", words: dict[int, float], least: float, cosines: dict[int, float], floor: float
) -> dict[int, float]:
    """Return the weighted sum of normalised BM25 and cosine of each row; one without a vector is as near as most.

    A BM25 below `least` never counts in full: a word or two in common is no reason to outrank what is meant.
    """
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


def _hits(
    scores: dict[int, float],
    words: dict[int, float],
    cosines: dict[int, float],
    worded_at: dict[int, int],
    meant_at: dict[int, int],
) -> "list[Hit]":
    hits = []
    for memory in sorted(scores, key=lambda memory: (-scores[memory], memory)):
        hit = Hit(memory)
        hit.score, hit.text_score, hit.cosine = scores[memory], words.get(memory, 0.0), cosines.get(memory)
        hit.text_rank, hit.meaning_rank = worded_at.get(memory, 0), meant_at.get(memory, 0)
        hits.append(hit)
    return hits


def _places(scores: dict[int, float]) -> dict[int, int]:
    """Return the rank of each row, from 1."""
    ranked = sorted(scores, key=lambda memory: (-scores[memory], memory))
    return {memory: rank for rank, memory in enumerate(ranked, 1)}
