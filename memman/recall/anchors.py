"""Where recall starts: the best rows by words and by meaning, fused into one score. Safe on the hot path."""

from memman.embed.static import int8, sign_code
from memman.model.terms import match_any, query_terms
from memman.recall.hit import Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# Rows each search contributes. Of the exact top 10 by cosine, 97 % are among the nearest 200 sign codes.
POOL = 200
# Share of words in the score; meaning has the rest. A broad optimum on conversation, fact and technical sets.
WORDS = 0.4
# Lowest cosine the built-in table gives in practice: the zero of its scale.
FLOOR = 0.1


def anchors(reader: "SqliteReader", table: "StaticTable", query: str, filters: "Filters") -> "list[Hit]":
    """Return every row that words or meaning bring up, best first."""
    hits: dict[int, Hit] = {}
    terms = query_terms(query)
    if terms:
        for rank, (memory, score) in enumerate(reader.lexical(match_any(terms), filters, POOL), 1):
            hit = hits[memory] = Hit(memory)
            hit.text_score, hit.text_rank = score, rank
    number = reader.embedder("builtin", f"{table.model}-v{table.version}", table.dimension)
    vector = table.vector(query)
    if number is not None and any(vector):
        near = [memory for memory, _ in reader.nearest(number, sign_code(vector), filters, POOL)]
        for memory in near:
            hits.setdefault(memory, Hit(memory))
        _measure(hits, reader.cosines(number, int8(vector), hits))
    return fused(list(hits.values()))


def _measure(hits: "dict[int, Hit]", cosines: dict[int, float]) -> None:
    for rank, (memory, cosine) in enumerate(sorted(cosines.items(), key=lambda pair: (-pair[1], pair[0])), 1):
        hits[memory].cosine, hits[memory].meaning_rank = cosine, rank


def fused(hits: "list[Hit]") -> "list[Hit]":
    """Score hits by the weighted sum of their normalised BM25 and cosine, and sort them."""
    most = max((hit.text_score for hit in hits), default=0.0) or 1.0
    nearest = max((hit.cosine for hit in hits if hit.cosine is not None), default=None)
    for hit in hits:
        words = hit.text_score / most
        if nearest is None or hit.cosine is None:
            hit.score = words
        else:
            meaning = (hit.cosine + FLOOR) / max(nearest + FLOOR, FLOOR)
            hit.score = WORDS * words + (1 - WORDS) * max(meaning, 0.0)
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits
