"""A store of the data folder opened for writing."""

from memman.config.env import own
from memman.config.stores import names
from memman.store.sqlite.store import SqliteStore

# The setting, of each store for itself, that names its server.
DSN = "MEMMAN_STORE_DSN"


def address(data: str, name: str) -> str:
    """Return the address of a store's server, '' where none is set."""
    return own(data, name).get(DSN, "")


def is_shared(data: str, name: str) -> bool:
    """Whether a store is on a server."""
    return bool(address(data, name))


def connected(data: str) -> list[str]:
    """Return the stores that are on a server."""
    return [name for name in names(data) if is_shared(data, name)]


def open_store(data: str, name: str) -> SqliteStore:
    """Open the store `name`, made on first use."""
    return SqliteStore.open(data, name)
