"""Where recall starts: the best rows by words and by meaning, at a cost that does not grow with the store. Hot.

BM25 is worked out for every row that holds any word of the query: up to 0.7 µs a
row, 0.3 s where a word is common among a million. So in a large store common
words are not searched for beside rare ones; and where all are common, only the
newest rows are looked at, first those that hold every word: they get the BM25 of
a row of usual length, since FTS5 would count every row of every word for theirs.
"""

from memman.embed.static import query_planes, sign_code, spelled
from memman.model.terms import match_all, match_any
from memman.recall.hit import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.query import Query
    from memman.store.filters import Filters
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
# What FTS5 has a word count for that half of all rows hold, or more.
_LITTLE = 1e-6


class Candidates:
    """What was brought up: all rows, what part of the query's words each holds, and cosines to those with a vector.

    The part is a row's BM25 as a share of `whole`, what the words would give together, each once, in a row of usual
    length: a stray word that many rows hold counts next to nothing, even where it is all that any row shares.
    """

    __slots__ = ("cosines", "found", "words")

    def __init__(
        self, found: dict[int, None], scores: dict[int, float], whole: float, cosines: dict[int, float]
    ) -> None:
        self.found, self.cosines = found, cosines
        self.words = {memory: min(score / whole, 1.0) for memory, score in scores.items()}


def candidates(reader: "SqliteReader", table: "StaticTable", query: "Query", filters: "Filters") -> Candidates:
    """Return every row that words or meaning bring up."""
    span = query.span
    # The time asked for is searched by itself too: in a large store the whole of it crowds that time out.
    searched = [filters, filters.having(window=reader.window(span.start, span.end))] if span else [filters]
    counted = counts(reader, query)
    scores: dict[int, float] = {}
    for part in searched:
        scores |= worded(reader, counted, part, POOL)
    held = reader.held(searched[-1], span.start, span.end, POOL) if span and query.bare else ()
    found = dict.fromkeys((*scores, *held))
    cosines: dict[int, float] = {}
    vector = table.vector(query.text)
    # Of a question of which the table knows only some words, a few names would be all its meaning.
    numbers = reader.searched(table.dimension) if any(vector) and not spelled(query.text) else []
    code, planes = sign_code(vector), query_planes(vector)
    for number in numbers:
        cells = reader.cells_around(number, code)
        for part in searched:
            found |= dict.fromkeys(memory for memory, _ in reader.nearest(number, code, part, POOL, cells))
    for number in numbers:
        cosines |= reader.cosines(number, planes, found)
    return Candidates(found, scores, whole(reader, counted), cosines)


def counts(reader: "SqliteReader", query: "Query") -> dict[str, int]:
    """Return how many rows hold each word of a query; beyond ROWS an estimate."""
    return {term: reader.estimated(match_any([term]), ROWS + 1) for term in query.terms()}


def whole(reader: "SqliteReader", counted: dict[str, int]) -> float:
    """Return the BM25 of a row of usual length that holds every word once: the sum of what each tells (its IDF)."""
    return sum(_told(reader.count(), max(count, 1)) for count in counted.values()) or 1.0


def _told(total: int, count: int) -> float:
    """Return the IDF of a word as FTS5 has it; what no row holds tells as much as what one does."""
    from math import log

    return log((total - count + 0.5) / (count + 0.5)) if 2 * count < total else _LITTLE


def worded(
    reader: "SqliteReader", counted: dict[str, int], filters: "Filters", limit: int, *, large: int = LARGE
) -> list[tuple[int, float]]:
    """Return (id, BM25) of the best rows for words, each with how many rows hold it, highest first."""
    if not counted:
        return []
    if reader.count() > large:
        return sparing(reader, counted, filters, limit)
    return reader.lexical(match_any([*counted]), filters, limit)


def sparing(
    reader: "SqliteReader", counted: dict[str, int], filters: "Filters", limit: int, rows: int = ROWS
) -> list[tuple[int, float]]:
    """Return the best rows that rare words bring up; where they are few, beside the best of the newest others."""
    rare, left = [], rows
    for term, count in sorted(counted.items(), key=lambda pair: (pair[1], pair[0])):
        if count > left:
            break
        left -= count
        if count:
            rare.append(term)
    found = dict(reader.lexical(match_any(rare), filters, limit)) if rare else _every(reader, counted, filters, limit)
    if len(found) < min(limit, ENOUGH):
        found = dict(reader.lexical(match_any([*counted]), filters, limit, rows)) | found
    return sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]


def _every(reader: "SqliteReader", counted: dict[str, int], filters: "Filters", limit: int) -> dict[int, float]:
    """Return the newest rows that hold every word, those that say all of them themselves before the others."""
    match = match_all([*counted])
    full = whole(reader, counted)
    own = reader.matched(f"{{text terms}} : ({match})", filters, limit)
    found = dict.fromkeys(own, full)
    for memory in reader.matched(match, filters, limit) if len(own) < limit else ():
        if len(found) < limit:
            found.setdefault(memory, _BESIDE * full)
    return found
