"""A store asked as recall does, without a data folder."""

from memman.embed.static import StaticTable
from memman.recall import answered
from memman.recall.hit import Hit
from memman.recall.query import understood
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader


def search(
    reader: SqliteReader,
    table: StaticTable,
    query: str,
    filters: Filters,
    limit: int,
    intent: str | None = None,
    now: int | None = None,
) -> list[Hit]:
    """Return what is `answered` to `query`, as it is `understood` at `now`."""
    asked = understood(query, now, filters.as_of).grounded(reader, filters)
    return answered(reader, table, asked, filters, limit, intent)
