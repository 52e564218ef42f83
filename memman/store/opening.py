"""A store of the data folder opened for writing."""

from memman.config.env import own
from memman.config.places import store_path
from memman.config.stores import exists, names
from memman.model.errors import ServerRefused
from memman.store import reach
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
    return [name for name in names(data) if is_shared(data, name) and exists(data, name)]


def refuse_reading(data: str, name: str) -> None:
    """Raise ServerRefused where we may only read a store, so that nobody would hear of what is written to it."""
    if is_shared(data, name) and reach.only_read(store_path(data, name)):
        raise only_readable(name)


def only_readable(name: str) -> ServerRefused:
    """Return the error of a store that is not for us to write to."""
    return ServerRefused(f"store {name!r} is one that you may only read; its owner can change that")


def open_store(data: str, name: str) -> SqliteStore:
    """Open the store `name`, made on first use."""
    return SqliteStore.open(data, name)
