"""What was asked: its words and the time it speaks of. Safe on the hot path."""

from memman.model.terms import lowered, query_terms, terms, unspaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memman.recall.moments import Span
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# By these and by dates a question may name a time; which it is, `moments` reads.
TIMELY = frozenset(
    """january february march april may june july august september october november december jan feb mar apr jun jul
    aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday today tonight yesterday this last
    previous past ago""".split()
)
_CENTURIES = ("19", "20")
# How much more what is of the time asked for counts, and what is of the days around it: a thing is often noted a
# little before or after it happened.
IN_TIME = 2.0
NEARBY = 1.5
NEARBY_MS = 3 * 86_400_000


class Query:
    """A query as recall understands it; `bare` asks for a time, named with its year, and nothing else."""

    __slots__ = ("about", "bare", "lone", "span", "text")

    def __init__(self, text: str, span: "Span | None" = None) -> None:
        self.text, self.span = text, span
        self.about = text if span is None or span.alone else span.rest
        self.bare = span is not None and span.alone and span.sure
        # Words of one character, which texts in such scripts hold inside others.
        self.lone = [] if text.isascii() else [term for term in terms(text) if len(term) == 1 and unspaced(term)]

    def grounded(self, reader: "SqliteReader | None", filters: "Filters", waiting: "Iterable[int]" = ()) -> "Query":
        """Ask for no time alone of which there is nothing, neither stored nor queued at a moment of `waiting`."""
        span = self.span
        if not self.bare or span is None or any(map(span.holds, waiting)):
            return self
        within = reader and filters.having(window=reader.window(span.start, span.end))
        there = reader and within and reader.held(within, span.start, span.end, 1)
        return self if there else Query(self.text)

    def terms(self) -> list[str]:
        """Return its words, each to be searched for."""
        return query_terms(self.text)

    def told(self, text: str) -> str:
        """Return what `text` says, in the query's own words too."""
        return " ".join((text, *(char for char in self.lone if char in text))) if self.lone else text

    def weight(self, moment: int) -> float:
        """Return the factor for what began to hold at `moment`."""
        if self.span is None:
            return 1.0
        if self.span.holds(moment):
            return IN_TIME
        near = self.span.start - NEARBY_MS <= moment < self.span.end + NEARBY_MS
        return NEARBY if near else 1.0


def understood(text: str, now: int | None = None, as_of: int | None = None) -> Query:
    """Read a query; yesterday and the like count from `now`, `as_of`, or the clock."""
    return Query(text, timed(text, as_of if now is None else now))


def timed(text: str, now: int | None = None) -> "Span | None":
    """Return the time that a query speaks of. One without a word for it costs next to nothing."""
    words = lowered(text)
    if TIMELY.isdisjoint(words) and not any(word.startswith(_CENTURIES) and word[:4].isdigit() for word in words):
        return None
    from time import time_ns

    from memman.recall.moments import resolve

    return resolve(text, time_ns() // 1_000_000 if now is None else now)
