"""A store taken to a server, for others to connect to, and made this machine's own again."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

from memman.config import synced
from memman.config.env import change
from memman.config.stores import checked, exists, unknown
from memman.locks import PATIENCE, drain_lock
from memman.model.errors import ServerRefused, UsageError
from memman.recovery.backup import take
from memman.store.opening import DSN, address, open_store
from memman.store.postgres import exchange
from memman.store.postgres.members import members
from memman.store.postgres.server import UNHURRIED_S, Server
from memman.store.sqlite.store import SqliteStore
from memman.sync.by_server import exchanged

Progress = Callable[[int, int], None]
# What a backup is called that is taken before a store changes sides.
_LABEL = "before-migrate"
_COUNTED = ("memory", "rule", "record")


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of a store: what it holds, and the backup of it; none where there was nothing to do."""

    store: str
    rows: dict[str, int]
    backup: str = ""
    done: bool = True


def to_server(data: str, name: str, dsn: str, progress: Progress) -> Moved:
    """Take a store to a server, where others can connect to it; killed meanwhile, the same again goes on.

    Raises UsageError where it is on another server, and NoServer and ServerRefused.
    """
    if synced.folder(data, checked(name)):
        raise UsageError(f"store {name!r} is synced by a folder: `memman sync --off --store {name}` ends that first")
    dsn = dsn or address(data, name)
    if not dsn:
        raise UsageError("which server? give its address by --dsn, or - to have it read from standard input")
    with _opened(data, name) as store, closing(Server(dsn)) as server:
        server.check()
        if known := exchange.connection(store.db):
            if known.server != server.id():
                raise UsageError(
                    f"store {name!r} is on another server: `memman migrate --to sqlite` brings it back first"
                )
            change(data, DSN, dsn, name)
            return Moved(name, _rows(store), done=False)
        backup = take(data, label=_LABEL, store=name).id
        number = server.store(name, make=True)
        if number is None or exchange.strange(store, server, number):
            raise ServerRefused(
                f"the server {server} has a store {name!r} already: to join it, export this one,"
                f" `memman store remove {name}`, connect and import the export"
            )
        exchange.push_all(store, server, number, progress)
        exchange.connect(store, server, number)
        change(data, DSN, dsn, name)
        exchanged(store, data, name, server)
        return Moved(name, _rows(store), backup)


def to_itself(data: str, name: str, progress: Progress, *, remove: bool = False) -> Moved:
    """Make a shared store this machine's own again; the server keeps it unless `remove`. Raises as `to_server` does."""
    dsn, backup = address(data, name), ""
    with _opened(data, name) as store:
        known = exchange.connection(store.db)
        if dsn and known:
            with closing(Server(dsn, UNHURRIED_S)) as server:
                if remove and not exchange.there(server, known.number):  # a former call was killed once it was deleted
                    change(data, DSN, None, name)
                    exchange.disconnect(store)
                    return Moved(name, _rows(store))
                exchanged(store, data, name, server, progress)
                backup = take(data, label=_LABEL, store=name).id
                if remove:
                    _remove(server, known.number)
        change(data, DSN, None, name)
        exchange.disconnect(store)
        return Moved(name, _rows(store), backup, done=bool(dsn or known))


def _remove(server: Server, number: int) -> None:
    """Delete the store on its server. Raises ServerRefused where others are members of it."""
    if others := len(members(server, number)) - 1:
        raise ServerRefused(f"{others} others are members of the store on {server}: it stays there")
    with server.translated():
        server.db.execute("SELECT memman.remove_store(%s)", (number,))


def survey(data: str, name: str) -> dict[str, int]:
    """Count what would be taken to a server. Raises UnknownStore."""
    if not exists(data, checked(name)):
        raise unknown(data, name)
    with closing(open_store(data, name)) as store:
        return _rows(store)


def taken(dsn: str, name: str) -> bool:
    """Whether the server has a store of that name for us. Raises NoServer, ServerRefused and NewerSchema."""
    with closing(Server(dsn)) as server:
        server.check()
        return server.store(name) is not None


def _rows(store: SqliteStore) -> dict[str, int]:
    return {name: int(store.db.execute(f"SELECT count(*) FROM {name}").get or 0) for name in _COUNTED}


@contextmanager
def _opened(data: str, name: str) -> Iterator[SqliteStore]:
    """Open a store that changes sides, with every drain held off. Raises UnknownStore, and Busy."""
    if not exists(data, checked(name)):
        raise unknown(data, name)
    with drain_lock(data, PATIENCE), closing(open_store(data, name)) as store:
        yield store
