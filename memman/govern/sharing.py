"""Stores that several machines and people share: connecting to one on a server, who its members are, who sees what."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from memman.clock import now_ms
from memman.config import synced
from memman.config.env import change
from memman.config.schedule import refuse_stopped
from memman.config.stores import checked, exists, harmless
from memman.govern.held import acted
from memman.govern.ids import rows_of
from memman.govern.stores import Chosen, steadily, unknown
from memman.model.errors import NoServer, NotSetUp, ServerRefused, UsageError
from memman.model.text import SHORT_ID
from memman.model.vocabulary import CONNECTED
from memman.store.opening import DSN, address, open_store, refuse_reading
from memman.store.postgres import exchange
from memman.store.postgres import members as membership
from memman.store.postgres.roles import documented
from memman.store.postgres.server import UNHURRIED_S, Server
from memman.store.sqlite import authorship, record_log
from memman.store.sqlite.store import SqliteStore
from memman.sync.by_server import exchanged

Progress = Callable[[int, int], None]
_HOLDS_SOMETHING = "SELECT EXISTS (SELECT 1 FROM record)"


def connect(data: str, name: str, dsn: str, *, make: bool, progress: Progress) -> int:
    """Make `name` the server's store of that name, and fill it; return how many records came.

    Killed meanwhile, the same again or a drain goes on. Raises UsageError where there is another store of that name,
    and NoServer and ServerRefused, after which nothing is changed.
    """
    harmless(name)
    if synced.folder(data, name):
        raise UsageError(f"store {name!r} is synced by a folder: `memman sync --off --store {name}` ends that first")
    with closing(Server(dsn)) as server:
        server.check()
        known = _known(data, name)
        number = server.store(name, make=make and not known)
        if number is None:
            raise UsageError(
                f"the server has no store {name!r} that you are a member of: its owner adds you by `memman store"
                f" add-member {name} {server.known.role}`, or --create makes a new one"
            )
        if known and known[:2] != (server.id(), number):
            raise UsageError(
                f"store {name!r} is on another server than {server}, or was another store there: `memman store remove"
                f" {name}` moves it aside first"
            )
        with closing(open_store(data, name)) as store:
            exchange.connect(store, server, number)
            change(data, DSN, dsn, name)
            return exchanged(store, data, name, server, progress)


def _known(data: str, name: str) -> exchange.Connection | None:
    """Return what a store is connected to, None for nothing yet. Raises UsageError for one of our own."""
    if not exists(data, name):
        return None
    with closing(open_store(data, name)) as store:
        known = exchange.connection(store.db)
        if not known and store.db.execute(_HOLDS_SOMETHING).get:
            raise UsageError(
                f"there is a store {name!r} here already: `memman migrate --to postgres` takes it to a server; to join"
                f" another one, export it, `memman store remove {name}`, connect and import the export"
            )
        return known


def upgrade(dsn: str, *, dry_run: bool) -> tuple[int, int]:
    """Bring a server's tables up to date; return the schema it had, and the one it has or would have."""
    with closing(Server(dsn, UNHURRIED_S)) as server:
        return server.upgrade(dry_run=dry_run)


def roles(database: str) -> str:
    """Return the SQL for the roles of several people."""
    return documented(database)


def refuse_unshared(data: str, name: str) -> None:
    """Raise UnknownStore, UsageError where a store is shared with nobody, and NotSetUp without its server's address."""
    if not exists(data, checked(name)):
        raise unknown(data, name)
    if address(data, name):
        return
    with closing(open_store(data, name)) as store:
        if store.reader.meta(CONNECTED):
            raise NotSetUp(f"the address of the server of store {name!r} is missing: `memman store connect {name}`")
    raise UsageError(f"the store {name!r} is shared with nobody: `memman store connect` connects to one that is")


@contextmanager
def _shared(data: str, name: str) -> Iterator[tuple[SqliteStore, Server]]:
    """Open a store that is shared, and its server. Raises as `refuse_unshared` does."""
    refuse_unshared(data, name)
    with closing(open_store(data, name)) as store, closing(Server(address(data, name))) as server:
        yield store, server


def members(data: str, name: str) -> list[dict[str, Any]]:
    """Return the members of a shared store."""
    with _shared(data, name) as (store, server):
        return membership.members(server, exchange.checked(store, server).number)


def add_member(data: str, name: str, role: str, may: str) -> str:
    """Make a role a member of a shared store; return the SQL that an administrator has yet to run for it, if any."""
    with _shared(data, name) as (store, server):
        return membership.add(server, exchange.checked(store, server).number, role, may)


def remove_member(data: str, name: str, role: str) -> bool:
    """End a role's membership of a shared store; False where it was no member."""
    with _shared(data, name) as (store, server):
        return membership.remove(server, exchange.checked(store, server).number, role)


def leave(data: str, name: str) -> int:
    """Leave a shared store: what we did not share goes from the server and stays here, the rest goes from here.

    Return how many memories stay. The caller holds the drain lock.
    """
    with _shared(data, name) as (store, server):
        server.silence_s = UNHURRIED_S
        exchanged(store, data, name, server)
        membership.leave(server, exchange.checked(store, server).number)
        change(data, DSN, None, name)
        with store.unit() as unit:
            unit.follow(record_log.withhold(unit.db, authorship.shared(unit.db)))
        exchange.disconnect(store)
        return int(store.db.execute("SELECT count(*) FROM memory").get or 0)


@steadily
def show_to(place: Chosen, parts: Sequence[str], visibility: str) -> list[dict[str, Any]]:
    """Have memories of ours be seen by all who share the store, or by us alone; return a record for each.

    Where its server cannot be asked, the next drain tells it.
    """
    refuse_stopped(place.data, "share" if visibility == "shared" else "unshare")
    rows = rows_of(place, parts)
    refuse_reading(place.data, place.name)
    with _shared(place.data, place.name) as (store, _):
        now = now_ms()
        with store.unit() as unit:
            if visibility == "private":
                _refuse_hiding(store, rows)
            _refuse_others(store, rows)
            changed = {row: unit.show_to(row, visibility, now) for row in rows}
        records = acted(place, store.reader, changed)
    heard = told(place.data, place.name)
    return [{**one, "told": heard} for one in records]


def told(data: str, name: str) -> bool:
    """Tell the server of a store what was done here; False where it cannot be asked, and the next drain tells it."""
    try:
        with _shared(data, name) as (store, server):
            exchange.push(store, server)
    except (NoServer, ServerRefused):
        return False
    return True


def _refuse_others(store: SqliteStore, rows: Sequence[int]) -> None:
    """Raise UsageError where somebody else wrote one of the memories."""
    ours = store.reader.role()
    for row, one in store.reader.authorship(rows).items():
        if one.author not in {"", ours}:
            uid = store.reader.rows([row])[row].uid[:SHORT_ID]
            raise UsageError(f"{uid} was written by {one.author}: only its author decides who sees it")


def _refuse_hiding(store: SqliteStore, rows: Sequence[int]) -> None:
    """Raise UsageError where others would lose a memory with the one that took its place."""
    for row in rows:
        older = store.reader.replaced_for_all(row)
        if older:
            new, old = (store.reader.rows([one])[one].uid[:SHORT_ID] for one in (row, older))
            says = f"`memman insights reinstate {old}` first"
            raise UsageError(f"{new} replaced {old}, which others share and would lose: {says}")
