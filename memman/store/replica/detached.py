"""A replica whose server cannot be asked as things are set up here: it is read, and nothing is written to it."""

from typing import NoReturn, Self

from memman.config.filesystem import ensure_safe_folder, refuse_shared
from memman.config.places import store_path
from memman.model.errors import NotSetUp
from memman.store.opening import address
from memman.store.replica import reach
from memman.store.sqlite.store import SqliteStore


class DetachedReplica(SqliteStore):
    """A replica, and why its server cannot be asked."""

    why: NotSetUp

    @classmethod
    def since(cls, data: str, name: str, why: NotSetUp) -> Self:
        """Open the replica `name` below the data folder."""
        path = store_path(data, name)
        ensure_safe_folder(data)
        refuse_shared(data, path)
        store = cls(path)
        store.why = named(name, why)
        return store

    def pull(self) -> int:
        """Raise NotSetUp, and take note that the server was not asked."""
        reach.missed(self.path, str(self.why))
        self.check_writing()

    def check_writing(self) -> NoReturn:
        """Raise NotSetUp."""
        raise self.why

    def transaction(self) -> NoReturn:
        """Raise NotSetUp: rows would get numbers here that another machine gives to others."""
        self.check_writing()


def named(name: str, error: NotSetUp) -> NotSetUp:
    """Return an error that says of which store it is."""
    return error if repr(name) in str(error) else NotSetUp(f"{error} (store {name!r})")


def refuse_unaddressed(data: str, name: str) -> None:
    """Raise NotSetUp where the address of a replica's server is missing."""
    if not address(data, name):
        raise NotSetUp(
            f"store {name!r} is a replica, and the address of its server is missing: `memman store connect {name}`"
            f" attaches it again, `memman migrate --to sqlite --store {name}` makes it this machine's own"
        )
