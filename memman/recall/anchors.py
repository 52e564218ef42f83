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

# Rows each search contributes. Of the exact top 10 by cosine 97 % are among the nearest 100 sign codes; 80, 120 and
# 200 rank alike to a tenth of a point.
POOL = 100
# Share of words in the score; meaning has the rest. A broad optimum on conversation, fact and technical sets.
WORDS = 0.4
# Lowest cosine that a query has in practice, below zero, to vectors of each provider: the zero of the scale.
FLOORS = {"builtin": 0.1, "minilm": 0.0}
# What the best cosine above that zero counts for at least: where nothing is near, nothing scores high.
_LEAST = 0.1


def anchors(
    reader: "SqliteReader", table: "StaticTable", query: "Query", filters: "Filters", signals: "Signals" = ALL
) -> "list[Hit]":
    """Return every row that words or meaning bring up, best first; what is of the time asked for counts more."""
    hits: dict[int, Hit] = {}
    span = query.span
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
    number, provider = reader.searched(f"{table.model}-v{table.version}", table.dimension) or (None, "builtin")
    vector = table.vector(query.meaning())
    if number is not None and signals.meaning and any(vector):
        _near(reader, number, vector, searched, hits)
    found = fused(list(hits.values()), FLOORS[provider])
    if provider != "builtin":
        for hit in found:
            hit.cosine = None  # those that are looked at are judged on the scale of the built-in table
    return _timely(reader, query, found) if span else found


def _near(
    reader: "SqliteReader", number: int, vector: "list[float]", searched: "list[Filters]", hits: "dict[int, Hit]"
) -> None:
    """Add what is nearest to `vector`, and measure how near every hit is."""
    code = sign_code(vector)
    cells = reader.cells_around(number, code)
    for part in searched:
        for memory, _ in reader.nearest(number, code, part, POOL, cells):
            hits.setdefault(memory, Hit(memory))
    _measure(hits, reader.cosines(number, query_planes(vector), hits))


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


def fused(hits: "list[Hit]", floor: float) -> "list[Hit]":
    """Score hits by the weighted sum of their normalised BM25 and cosine, and sort them."""
    most = max((hit.text_score for hit in hits), default=0.0) or 1.0
    nearest = max((hit.cosine for hit in hits if hit.cosine is not None), default=0.0)
    scale = max(nearest + floor, _LEAST)
    for hit in hits:
        words = hit.text_score / most
        if hit.cosine is None:
            hit.score = words
        else:
            meaning = (hit.cosine + floor) / scale
            hit.score = WORDS * words + (1 - WORDS) * max(meaning, 0.0)
    hits.sort(key=lambda hit: (-hit.score, hit.id))
    return hits
