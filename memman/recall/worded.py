"""The best rows by words, at a cost that does not grow with the store. Safe on the hot path.

BM25 is worked out for every row that holds any word of the query: up to 0.7 µs a
row, 0.3 s where a word is common among a million. So in a large store common
words are not searched for beside rare ones; and where all are common, only the
newest rows are looked at, first those that hold every word: they get the BM25 of
a row of usual length, since FTS5 would count every row of every word for theirs.
"""

from memman.model.terms import match_any

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.query import Query
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# Memories from which on a store is large.
LARGE = 65_536
# Rows that rare words may have together, and rows looked at for common ones.
ROWS = 6_000
# What a row counts for where its neighbours hold some of the words: BM25 gives half to one that they alone hold.
_BESIDE = 0.75
# As many as any recall shows: beside so many, rows that hold fewer of the words are not searched for.
ENOUGH = 50


def worded(
    reader: "SqliteReader", query: "Query", filters: "Filters", limit: int, *, context: bool = True, large: int = LARGE
) -> list[tuple[int, float]]:
    """Return (id, BM25) of the best rows for a query, highest first; without `context`, by their own words alone."""
    terms = query.terms()
    if not terms:
        return []
    if reader.count() > large:
        return sparing(reader, query, filters, limit)
    match = match_any(terms)
    return reader.lexical(match if context else f"{{text terms}} : ({match})", filters, limit)


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
