"""A store of the data folder opened for writing: by itself, or as a replica of one on a server."""

from memman.config.env import own
from memman.config.stores import names
from memman.store.sqlite.store import SqliteStore

# The setting, of each store for itself, that names its server.
DSN = "MEMMAN_STORE_DSN"


def connected(data: str) -> list[str]:
    """Return the stores that are replicas of one on a server."""
    return [name for name in names(data) if own(data, name).get(DSN)]


def open_store(data: str, name: str) -> SqliteStore:
    """Open the store `name`, made on first use. Raises NewerSchema, UnsafePlace and what else keeps it shut."""
    dsn = own(data, name).get(DSN)
    if not dsn:
        return SqliteStore.open(data, name)
    from memman.store.replica.store import ReplicaStore

    return ReplicaStore.connected(data, name, dsn)
