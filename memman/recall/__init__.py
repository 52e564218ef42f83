"""Finding what matters to a query: the whole of recall on one screen. Safe on the hot path.

candidates (words, meaning) → fuse → supersede → rescore → stand back → gate → collapse → evidence → supersede → order;
`render` writes it. Each stage returns new values. The store and the query decide everything, so the same question gets
the same answer in the same order.
"""

from memman.recall.candidates import candidates, fused
from memman.recall.labels import IN_TIME, stood_back
from memman.recall.order import CLOSE, SPARE, collapsed, gated, ordered, outstanding, weighed, with_causes
from memman.recall.rescore import rescored
from memman.recall.supersede import current, doubted, newer_first, settled, with_newer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.hit import Hit
    from memman.recall.query import Query
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader


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
    anchors = fused(reader, asked, candidates(reader, table, asked, filters), close)
    anchors = current(reader, anchors, filters)[:CLOSE]
    reads = settled(reader, rescored(reader, table, asked.text, anchors), filters)
    if intent not in IN_TIME:
        reads = stood_back(reader, reads, filters.as_of)
    # Each thing is said once, and a few are to spare.
    hits = gated(reads, asked, limit + SPARE, 0.0 if asked.bare else filters.least)
    hits = weighed(reader, collapsed(hits, limit + SPARE), filters.as_of)
    if filters.least is None and not (filters.every or asked.bare):
        hits = outstanding(hits)
    if intent == "why":
        hits = with_causes(reader, hits[:limit], filters, limit)
    if not asked.bare:
        hits = with_newer(reader, hits, filters)
    hits = doubted(reader, hits, filters, limit)
    rows = reader.harmless(hit.row for hit in hits)
    if filters.as_of is not None and not filters.history:  # each was, whatever became of it since
        rows = [type(row)((row.record() | {"status": "current"}).values()) for row in rows]
    hits = [hit if row is hit.row else hit.having(row=row) for hit, row in zip(hits, rows, strict=True)]
    return newer_first(ordered(reader, hits, intent)) if intent else hits
