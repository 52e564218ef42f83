"""A store taken to a server, for others to connect to, and made this machine's own again."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from secrets import token_hex

from memman.config import synced
from memman.config.env import change
from memman.config.places import store_path
from memman.config.stores import checked, exists
from memman.govern.stores import unknown
from memman.locks import PATIENCE, drain_lock, exchanging
from memman.model.errors import NoServer, UsageError
from memman.recovery.backup import take
from memman.recovery.swap import finish
from memman.sqlite import TranslatedErrors, open_reader
from memman.store.opening import DSN, address
from memman.store.postgres import whole
from memman.store.postgres.server import UNHURRIED_S, Server
from memman.store.replica import moving, position
from memman.store.replica.position import Move
from memman.store.replica.store import ReplicaStore
from memman.store.tables import TABLES

Progress = Callable[[int, int], None]
# What a backup is called that is taken before a store changes sides.
_LABEL = "before-migrate"
_TOKEN_BYTES = 8


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of a store: its rows by table, and the backup of it; none where there was nothing to do."""

    store: str
    rows: dict[str, int]
    backup: str = ""
    done: bool = True


def to_server(data: str, name: str, dsn: str, progress: Progress) -> Moved:
    """Take a store to a server, where others can connect to it; killed meanwhile, the same again goes on.

    Raises UsageError where it is on another server, StoreError where the server has not got all of it at the end, and
    NoServer and ServerRefused.
    """
    if synced.folder(data, checked(name)):
        raise UsageError(f"store {name!r} is synced by a folder: `memman sync --off --store {name}` ends that first")
    dsn = dsn or address(data, name)
    if not dsn:
        raise UsageError("which server? give its address by --dsn, or - to have it read from standard input")
    with _opened(data, name, dsn) as store:
        store.server.check()
        move, known = position.moving(store.db), position.store(store.db)
        if known and not move:
            if known[0] != store.server.id():
                raise UsageError(
                    f"store {name!r} is on another server: `memman migrate --to sqlite` brings it back first"
                )
            change(data, DSN, dsn, name)
            return Moved(name, moving.rows(store), done=False)
        if move is None:
            backup = take(data, label=_LABEL, store=name)
            move = Move(token_hex(_TOKEN_BYTES), backup.id)
        with exchanging(data):
            if not move.table and not move.seq:
                moving.begin(store, name, move)
            change(data, DSN, dsn, name)
            moving.upload(store, progress)
        return Moved(name, moving.rows(store), move.backup)


def to_itself(data: str, name: str, progress: Progress, *, remove: bool = False) -> Moved:
    """Make a replica a store by itself again; the server keeps it unless `remove`. Raises as `to_server` does."""
    dsn = address(data, name)
    with _opened(data, name, dsn) as store:
        known, backup = position.store(store.db), ""
        on_its_way = position.moving(store.db) is not None
        if on_its_way and dsn:
            _give_up(store)
        elif dsn and known and not position.leaving(store.db):
            moving.follow_to_the_end(store, progress)
            backup = take(data, label=_LABEL, store=name).id
        with exchanging(data):
            if remove and dsn and known and not on_its_way:
                moving.remove(store)
            if dsn:  # first: a replica without an address is told what to do with it, a store with one is not its own
                change(data, DSN, None, name)
            moving.let_go(store)
        return Moved(name, moving.rows(store), backup, done=bool(dsn or known))


def survey(data: str, name: str) -> dict[str, int]:
    """Count the rows, by table, of what would be taken to a server. Raises UnknownStore."""
    if not exists(data, checked(name)):
        raise unknown(data, name)
    path = store_path(data, name)
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        return {table.name: table.count(db) for table in TABLES.values()}


def taken(dsn: str, name: str) -> bool:
    """Whether the server has a store of that name for us. Raises NoServer, ServerRefused and NewerSchema."""
    with closing(Server(dsn)) as server:
        server.check()
        number = server.store(name)
        if number is None:
            return False
        with server.transaction() as db:
            return bool(whole.state(db, number)[0])


def _give_up(store: ReplicaStore) -> None:
    try:
        moving.give_up(store)
    except NoServer:  # nobody can connect to what is left there
        return


@contextmanager
def _opened(data: str, name: str, dsn: str) -> Iterator[ReplicaStore]:
    """Open a store that changes sides, with every drain held off. Raises UnknownStore, and Busy."""
    if not exists(data, checked(name)):
        raise unknown(data, name)
    with drain_lock(data, PATIENCE):
        finish(data)
        with closing(ReplicaStore.connected(data, name, dsn)) as store:
            store.server.silence_s = UNHURRIED_S
            yield store
