"""Where recall starts: the best rows by words and by meaning, at a cost that does not grow with the store. Hot.

BM25 is worked out for every row that holds any word of the query: up to 0.7 µs a
row, 0.3 s where a word is common among a million. So in a large store common
words are not searched for beside rare ones; and where all are common, only the
newest rows are looked at, first those that hold every word: they get the BM25 of
a row of usual length, since FTS5 would count every row of every word for theirs.
"""

from memman.embed.static import query_planes, sign_code
from memman.model.terms import match_any
from memman.model.vocabulary import BUILTIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.query import Query
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# Rows each search contributes. Of the exact top 10 by cosine 97 % are among the nearest 100 sign codes; 80, 120 and
# 200 rank alike to a tenth of a point.
POOL = 100
# Memories from which on a store is large.
LARGE = 65_536
# Rows that rare words may have together, and rows looked at for common ones.
ROWS = 6_000
# What a row counts for where its neighbours hold some of the words: BM25 gives half to one that they alone hold.
_BESIDE = 0.75
# As many as any recall shows: beside so many, rows that hold fewer of the words are not searched for.
ENOUGH = 50


class Candidates:
    """What was brought up: all rows, BM25 of those by words, and cosines to the vectors of `provider`."""

    __slots__ = ("cosines", "found", "provider", "words")

    def __init__(
        self, found: dict[int, None], words: dict[int, float], cosines: dict[int, float], provider: str
    ) -> None:
        self.found, self.words, self.cosines, self.provider = found, words, cosines, provider


def candidates(reader: "SqliteReader", table: "StaticTable", query: "Query", filters: "Filters") -> Candidates:
    """Return every row that words or meaning bring up."""
    span = query.span
    # The time asked for is searched by itself too: in a large store the whole of it crowds that time out.
    searched = [filters, filters.within(reader.window(span.start, span.end))] if span else [filters]
    words: dict[int, float] = {}
    for part in searched:
        words |= worded(reader, query, part, POOL)
    held = reader.held(searched[-1], span.start, span.end, POOL) if span and query.bare else ()
    found = dict.fromkeys((*words, *held))
    cosines: dict[int, float] = {}
    number, provider = reader.searched(f"{table.model}-v{table.version}", table.dimension) or (None, BUILTIN)
    vector = table.vector(query.text)
    if number is not None and any(vector):
        code = sign_code(vector)
        cells = reader.cells_around(number, code)
        for part in searched:
            found |= dict.fromkeys(memory for memory, _ in reader.nearest(number, code, part, POOL, cells))
        cosines = reader.cosines(number, query_planes(vector), found)
    return Candidates(found, words, cosines, provider)


def worded(
    reader: "SqliteReader", query: "Query", filters: "Filters", limit: int, *, large: int = LARGE
) -> list[tuple[int, float]]:
    """Return (id, BM25) of the best rows for a query, highest first."""
    terms = query.terms()
    if not terms:
        return []
    if reader.count() > large:
        return sparing(reader, query, filters, limit)
    return reader.lexical(match_any(terms), filters, limit)


def sparing(
    reader: "SqliteReader", query: "Query", filters: "Filters", limit: int, rows: int = ROWS
) -> list[tuple[int, float]]:
    """Return the best rows that rare words bring up; where they are few, beside the best of the newest others."""
    terms, left = query.terms(), rows
    counted = sorted((reader.estimated(match_any([term]), rows + 1), term) for term in terms)
    rare = []
    for count, term in counted:
        if count > left:
            break
        left -= count
        if count:
            rare.append(term)
    found = dict(reader.lexical(match_any(rare), filters, limit)) if rare else _every(reader, counted, filters, limit)
    if len(found) < min(limit, ENOUGH):
        found = dict(reader.lexical(match_any(terms), filters, limit, rows)) | found
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def _every(
    reader: "SqliteReader", counted: "list[tuple[int, str]]", filters: "Filters", limit: int
) -> dict[int, float]:
    """Return the newest rows that hold every word, those that say all of them themselves before the others."""
    from math import log

    match = " AND ".join(match_any([term]) for _, term in counted)
    total = reader.count()
    full = sum(max(log((total - count + 0.5) / (count + 0.5)), 0.0) for count, _ in counted)
    own = reader.matched(f"{{text terms}} : ({match})", filters, limit)
    found = dict.fromkeys(own, full)
    for memory in reader.matched(match, filters, limit) if len(own) < limit else ():
        if len(found) < limit:
            found.setdefault(memory, _BESIDE * full)
    return found
