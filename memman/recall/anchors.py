"""Where recall starts: the best rows by words and by meaning, fused into one score. Safe on the hot path."""

from memman.embed.static import query_planes, sign_code
from memman.recall.hit import Hit
from memman.recall.signals import ALL
from memman.recall.worded import worded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.query import Query
    from memman.recall.signals import Signals
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# Rows each search contributes. Of the exact top 10 by cosine, 97 % are among the nearest 200 sign codes.
POOL = 200
# Share of words in the score; meaning has the rest. A broad optimum on conversation, fact and technical sets.
WORDS = 0.4
# Lowest cosine the built-in table gives in practice: the zero of its scale.
FLOOR = 0.1


def anchors(
    reader: "SqliteReader", table: "StaticTable", query: "Query", filters: "Filters", signals: "Signals" = ALL
) -> "list[Hit]":
    """Return every row that words or meaning bring up, best first; what is of the time asked for counts more."""
    hits: dict[int, Hit] = {}
    span = query.span if signals.time else None
    # The time asked for is searched by itself too: in a large store the whole of it crowds that time out.
    searched = [filters, filters.within(reader.window(span.start, span.end))] if span else [filters]
    if signals.words:
        for part in searched:
            for memory, score in worded(reader, query, part, POOL, context=signals.context):
                hits.setdefault(memory, Hit(memory)).text_score = score
        _rank(hits)
    if span and query.bare:
        for memory in reader.held(searched[-1], span.start, span.end, POOL):
            hits.setdefault(memory, Hit(memory))
    number = reader.embedder("builtin", f"{table.model}-v{table.version}", table.dimension)
    vector = table.vector(query.meaning())
    if number is not None and signals.meaning and any(vector):
        code = sign_code(vector)
        cells = reader.cells_around(number, code)
        for part in searched:
            for memory, _ in reader.nearest(number, code, part, POOL, cells):
                hits.setdefault(memory, Hit(memory))
        _measure(hits, reader.cosines(number, query_planes(vector), hits))
    found = fused(list(hits.values()))
    return _timely(reader, query, found) if span else found


def _timely(reader: "SqliteReader", query: "Query", hits: "list[Hit]") -> "list[Hit]":
    """Weigh hits by the time asked for; a question for nothing else leaves out all that is not of it."""
    began = reader.began(hit.id for hit in hits)
    if query.bare and query.span:
        hits = [hit for hit in hits if query.span.holds(began[hit.id])]
    for hit in hits:
        hit.score *= query.weight(began[hit.id])
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def _rank(hits: "dict[int, Hit]") -> None:
    for rank, hit in enumerate(sorted(hits.values(), key=lambda hit: (-hit.text_score, hit.id)), 1):
        hit.text_rank = rank


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
