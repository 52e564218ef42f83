"""A store of the data folder opened for writing: by itself, or as a replica of one on a server."""

from contextlib import closing

from memman.config.env import own
from memman.config.places import store_path
from memman.config.stores import exists, names
from memman.model.errors import MemmanError, NotSetUp
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.replica import position, reach
from memman.store.sqlite.store import SqliteStore

# The setting, of each store for itself, that names its server.
DSN = "MEMMAN_STORE_DSN"


def address(data: str, name: str) -> str:
    """Return the address of a store's server, '' where none is set."""
    return own(data, name).get(DSN, "")


def is_replica(data: str, name: str) -> bool:
    """Whether a store is a replica, by what its own file says; by the file beside it where that cannot be read."""
    path = store_path(data, name)
    if not exists(data, name):
        return False
    try:
        with TranslatedErrors(path), closing(open_reader(path)) as db:
            return position.store(db) is not None
    except MemmanError:
        return reach.last(path) is not None


def is_shared(data: str, name: str) -> bool:
    """Whether a store is on a server, by its settings or as a replica, whose address may be missing."""
    return bool(address(data, name)) or is_replica(data, name)


def connected(data: str) -> list[str]:
    """Return the stores that are on a server."""
    return [name for name in names(data) if is_shared(data, name)]


def open_store(data: str, name: str) -> SqliteStore:
    """Open the store `name`, made on first use, also a replica out of reach. Raises what keeps it shut."""
    if not is_shared(data, name):
        return SqliteStore.open(data, name)
    from memman.store.replica.detached import DetachedReplica, refuse_unaddressed

    try:
        refuse_unaddressed(data, name)
        from memman.store.replica.store import ReplicaStore

        return ReplicaStore.connected(data, name, address(data, name))
    except NotSetUp as error:
        return DetachedReplica.since(data, name, error)
