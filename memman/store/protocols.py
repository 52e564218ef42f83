"""What pipeline, recall and people's verbs ask of a store, by short names; there is one kind of store."""

from memman.store.sqlite.reader import SqliteReader as Reader
from memman.store.sqlite.store import SqliteStore as Store
from memman.store.sqlite.unit import SqliteUnit as Unit

__all__ = ["Reader", "Store", "Unit"]
