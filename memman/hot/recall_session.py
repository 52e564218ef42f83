"""What a query finds, in a store opened once for many: the hits among what is stored and what still waits."""

import time

from memman.config.places import check_folder, queue_path, store_path
from memman.config.scope import label
from memman.config.stores import DEFAULT, unknown
from memman.embed.static import StaticTable
from memman.recall import answered
from memman.recall.hit import confidence
from memman.recall.labels import IN_TIME, labelled, standing_back
from memman.recall.order import CLOSE
from memman.recall.pending import pending, waiting
from memman.recall.query import understood
from memman.recall.supersede import awaited
from memman.sqlite import TranslatedErrors, there
from memman.store.sqlite.reader import SqliteReader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.hit import Hit
    from memman.recall.query import Query
    from memman.store.filters import Filters


class RecallSession:
    """A store and the notes waiting for it, as they were at the first read, for any number of queries."""

    __slots__ = ("notes", "path", "reader", "table")

    def __init__(self, data: str, store: str, waiting_of: str | None = None) -> None:
        # The queue is read first: a note drained in between is then seen twice, and never not at all.
        notes = waiting(queue_path(data), store)
        self.notes = [note for note in notes if waiting_of in {None, note.source}]
        self.path = store_path(data, store)
        with TranslatedErrors(self.path):
            self.reader = SqliteReader.open(self.path)
            if self.reader is None:
                check_folder(data)
                _refuse_emptied(data, store, self.path)
            else:
                self.reader.hold()
                self.table = StaticTable()

    def hits(
        self, query: str, filters: "Filters", limit: int, intent: str | None = None, close: int = CLOSE
    ) -> "list[Hit]":
        """Return the best hits; of what is stored only the best `close` are weighed."""
        with TranslatedErrors(self.path):
            asked, filters, gone = self._understood(query, filters)
            notes = [note for note in self.notes if note.uid not in gone]
            if self.reader is None:
                return pending(notes, asked, filters)[:limit]
            replaced = self.reader.located(gone)
            stored = answered(self.reader, self.table, asked, filters, limit, intent, close)
            stored = labelled(
                self.reader, _scoped(self.reader, stored, filters), filters.as_of or time.time_ns() // 1_000_000
            )
            stored = stored if intent in IN_TIME else standing_back(stored)
            fresh = [hit for hit in pending(notes, asked, filters) if not self.reader.has_receipt(hit.row.note)]
        return _merged([hit for hit in stored if hit.id not in replaced], fresh)[:limit]

    def _understood(self, query: str, filters: "Filters") -> "tuple[Query, Filters, set[str]]":
        """Return the query, the filters with the scopes that hold here, and the uids of what waiting notes replace."""
        if filters.here is not None and self.reader is not None and not filters.anywhere:
            filters = filters.having(scopes=self.reader.scopes(filters.here, inside=filters.inside))
        gone = awaited(self.notes, filters)
        queued = (note.queued_at for note in self.notes if note.uid not in gone)
        return understood(query, as_of=filters.as_of).grounded(self.reader, filters, queued), filters, gone

    def close(self) -> None:
        """Close the store."""
        if self.reader is not None:
            self.reader.close()


def _refuse_emptied(data: str, store: str, path: str) -> None:
    """Raise DamagedFile where the file of a store is there, but has lost everything."""
    if there(path):
        from memman.queue.schema import refuse_emptied

        refuse_emptied(data, store)


def _scoped(reader: SqliteReader, hits: "list[Hit]", filters: "Filters") -> "list[Hit]":
    """Say of each hit what it holds for, if not for all of the repository one is in, or everywhere."""
    scopes = reader.scope_of(hit.id for hit in hits) if hits else {}
    named = {row: label(*scope) for row, scope in scopes.items() if scope[1] or not filters.mine(*scope)}
    return [hit.having(scope=named[hit.id]) if hit.id in named else hit for hit in hits] if named else hits


def found(data: str, store: str, query: str, filters: "Filters", limit: int, intent: str | None) -> "list[Hit]":
    """Return the best hits. Raises UnknownStore as `opened` does."""
    recalls = opened(data, store)
    hits = recalls.hits(query, filters, limit, intent)
    recalls.close()
    return hits


def opened(data: str, store: str) -> RecallSession:
    """Open a store with what waits for it. Raises UnknownStore where there is neither; the default one may come."""
    recalls = RecallSession(data, store)
    if store != DEFAULT and recalls.reader is None and not recalls.notes:
        raise unknown(data, store)
    return recalls


def _merged(hits: "list[Hit]", fresh: "list[Hit]") -> "list[Hit]":
    """Put each waiting note before the first stored hit that it is as sure as; stored hits keep their order."""
    surest = confidence(None, 1.0)
    merged = list(hits)
    for note in reversed(fresh):
        place = next((n for n, hit in enumerate(merged) if note.confidence >= min(hit.confidence, surest)), len(merged))
        merged.insert(place, note)
    return merged
