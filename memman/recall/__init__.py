"""Finding what matters to a query: the whole of recall on one screen. Safe on the hot path.

anchors (words, meaning; fused) → succession → walk → gate → cut → order. Everything is
decided by the store and the query alone, so the same question gets the same
answer in the same order.
"""

from memman.recall.anchors import anchors
from memman.recall.gate import CLOSE, gated
from memman.recall.intent import guess
from memman.recall.order import ordered
from memman.recall.succession import current
from memman.recall.walk import walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.embed.static import StaticTable
    from memman.recall.hit import Hit
    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader


def search(
    reader: "SqliteReader",
    table: "StaticTable",
    query: str,
    filters: "Filters",
    limit: int,
    intent: str | None = None,
    close: int = CLOSE,
) -> "list[Hit]":
    """Return at most `limit` hits for `query`, in the order its intent asks for; only the best `close` are weighed."""
    intent = intent or guess(query)
    hits = anchors(reader, table, query, filters)[:close]
    hits = current(reader, hits, filters)
    hits = walk(reader, hits, filters, intent)
    hits = gated(reader, hits, query, limit)
    return ordered(reader, hits, intent)
