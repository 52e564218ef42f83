"""The product's own recall in a data set's stores: as it shows, and as it ranks."""

from collections.abc import Callable

from bench.baselines import Ranker
from bench.dataset import Key, Query
from bench.scores import DEPTH
from bench.shelves import Shelves
from memman.embed.static import StaticTable
from memman.recall import search
from memman.recall.hit import Hit
from memman.recall.query import NAMES, Signals
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader

# What `memman recall` prints unless told otherwise.
SHOWN = 10
# What cuts rather than ranks is off where rankings are measured.
UNCUT = {"gate": False, "collapse": False}
_DAY_MS = 86_400_000

Recall = Callable[[SqliteReader, StaticTable, str], list[Hit]]


def day_after(reader: SqliteReader) -> int:
    """Return when questions are asked: a day after the last thing was said, whatever the calendar says now."""
    newest: int = reader.db.execute("SELECT max(valid_from) FROM memory").get or 0
    return newest + _DAY_MS


def shown(reader: SqliteReader, table: StaticTable, query: str) -> list[Hit]:
    """Recall as `memman recall` does by default: gated, and alike hits shown once."""
    return search(reader, table, query, Filters(), SHOWN, now=day_after(reader))


def ranked(reader: SqliteReader, table: StaticTable, query: str, limit: int = DEPTH) -> list[Hit]:
    """Recall by score alone: nothing is cut as irrelevant, and nothing left out because it is like another."""
    return search(reader, table, query, Filters(), limit, signals=Signals(**UNCUT), now=day_after(reader))


def confidence(reader: SqliteReader, table: StaticTable, query: str) -> float:
    """Return how sure recall is of the surest hit that it would show, 0 where there is none."""
    return max((hit.confidence for hit in ranked(reader, table, query, SHOWN)), default=0.0)


def in_stores(shelves: Shelves, recall: Recall) -> Ranker:
    """Ask each question of its scope's store, and name the documents that come up."""
    readers = {scope: shelf.reader() for scope, shelf in shelves.by_scope.items()}
    table = StaticTable()

    def asked(query: Query) -> list[Key]:
        docs = shelves.by_scope[query.scope].docs
        return [docs[hit.row.uid].key for hit in recall(readers[query.scope], table, query.text)]

    return asked


def without(signal: str) -> Recall:
    """Return the ranking without one of its signals."""

    def recall(reader: SqliteReader, table: StaticTable, query: str) -> list[Hit]:
        signals = Signals(**UNCUT, **{signal: False})
        return search(reader, table, query, Filters(), DEPTH, signals=signals, now=day_after(reader))

    return recall


def ablations() -> dict[str, Recall]:
    """Return the ranking without each of its signals, by name."""
    return {f"no {signal}": without(signal) for signal in NAMES if signal not in UNCUT}
