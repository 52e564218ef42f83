"""A store opened for writing: the connection, its transactions, its backups."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from memman.config.places import ensure_safe_folder, refuse_shared, store_path
from memman.embed.base import Vectors
from memman.sqlite import Transaction, TranslatedErrors, close, open_writer
from memman.store.sqlite import sessions
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.schema import migrate
from memman.store.sqlite.unit import SqliteUnit
from memman.store.sqlite.vectors import centres, divide, due


class SqliteStore:
    """One store's database, migrated to the newest schema."""

    def __init__(self, path: str) -> None:
        self.path = path
        with TranslatedErrors(path):
            self.db = open_writer(path)
            migrate(self.db, path)
            self.reader = SqliteReader(self.db)
        self.by: Mapping[str, str] = {}  # agent and session that the log names where no note makes a change

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold one write transaction: all of it is stored, or none."""
        with TranslatedErrors(self.path), Transaction(self.db):
            yield

    @contextmanager
    def unit(self) -> Iterator[SqliteUnit]:
        """Hold one write transaction, for writes to memories."""
        with self.transaction():
            yield SqliteUnit(self.db, self.by)

    def cell(self, embedder: int, vector: Vectors) -> int:
        """Return the cell of the partition that `vector` belongs to."""
        return self.reader.partition(embedder).cell(vector)

    def maintain(self) -> None:
        """Divide what has outgrown its partition, bound what was shown, and let SQLite refresh its statistics."""
        with TranslatedErrors(self.path):
            embedders: list[Any] = self.db.execute("SELECT id FROM embedder").fetchall()
            for (embedder,) in embedders:
                if due(self.db, embedder):
                    centroids = centres(self.db, embedder)
                    with self.transaction():
                        divide(self.db, embedder, centroids)
                    self.reader.forget_partitions()
            with self.transaction():
                sessions.bound(self.db)
            self.db.execute("PRAGMA optimize")

    def close(self) -> None:
        """Truncate the log and close."""
        close(self.db, self.path)


def open_store(data: str, name: str) -> SqliteStore:
    """Open the store `name` below the data folder, made on first use."""
    path = store_path(data, name)
    ensure_safe_folder(data)
    refuse_shared(data, path)
    return SqliteStore(path)
