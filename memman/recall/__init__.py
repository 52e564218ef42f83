"""Finding what matters to a query: the whole of recall on one screen. Safe on the hot path.

candidates (words, meaning) → fuse → supersede → rescore → stand back → gate → collapse → evidence → supersede → order;
`render` writes it.
Each stage returns new values, and changes none that it is given.
Everything is decided by the store and the query alone, so the same question gets
the same answer in the same order.
"""

from memman.recall.candidates import candidates
from memman.recall.collapse import SPARE, collapsed
from memman.recall.evidence import weighed
from memman.recall.fuse import fused
from memman.recall.gate import CLOSE, gated, outstanding
from memman.recall.labels import IN_TIME, stood_back
from memman.recall.order import ordered, with_causes
from memman.recall.query import understood
from memman.recall.rescore import rescored
from memman.recall.supersede import current, doubted, newer_first, settled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.hit import Hit, Read
    from memman.recall.query import Query
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader


def search(
    reader: "SqliteReader",
    table: "StaticTable",
    query: str,
    filters: "Filters",
    limit: int,
    intent: str | None = None,
    now: int | None = None,
) -> "list[Hit]":
    """Return what is `answered` to `query`, as it is `understood` at `now`."""
    asked = understood(query, now, filters.as_of).grounded(reader, filters)
    return answered(reader, table, asked, filters, limit, intent)


def answered(
    reader: "SqliteReader",
    table: "StaticTable",
    asked: "Query",
    filters: "Filters",
    limit: int,
    intent: str | None = None,
    close: int = CLOSE,
) -> "list[Hit]":
    """Return at most `limit` hits of the best `close`, best first, or in the order of an `intent`."""
    reads = looked_at(reader, table, asked, filters, intent, close)
    hits = relevant(reader, table, asked, reads, filters, limit)
    if cut(asked, filters):
        hits = outstanding(hits)
    if intent == "why":
        hits = with_causes(reader, hits[:limit], filters, limit)
    hits = doubted(reader, hits, filters, limit)
    rows = reader.harmless(hit.row for hit in hits)
    hits = [hit if row is hit.row else hit.having(row=row) for hit, row in zip(hits, rows, strict=True)]
    return newer_first(ordered(reader, hits, intent)) if intent else hits


def looked_at(
    reader: "SqliteReader",
    table: "StaticTable",
    asked: "Query",
    filters: "Filters",
    intent: str | None = None,
    close: int = CLOSE,
) -> "list[Read]":
    """Return what words and meaning bring up, read and scored, best first, what is past its end below the rest."""
    anchors = fused(reader, asked, candidates(reader, table, asked, filters), close)
    anchors = current(reader, anchors, filters)[:CLOSE]
    reads = settled(reader, rescored(reader, table, asked.text, anchors), filters)
    return reads if intent in IN_TIME else stood_back(reader, reads, filters.as_of)


def relevant(
    reader: "SqliteReader",
    table: "StaticTable",
    asked: "Query",
    reads: "list[Read]",
    filters: "Filters",
    limit: int,
) -> "list[Hit]":
    """Return those that pass the gate, each thing said once: `limit` of them, and a few to spare."""
    least = 0.0 if asked.bare else filters.least
    hits = gated(reader, table, reads, asked, limit + SPARE, least)
    return weighed(reader, collapsed(hits, limit + SPARE), filters.as_of)


def cut(asked: "Query", filters: "Filters") -> bool:
    """Whether hits far below the best are left out."""
    return filters.least is None and not (filters.every or asked.bare)
