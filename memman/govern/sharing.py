"""Stores that several machines and people share: connecting to one on a server, who its members are, who sees what."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from memman.clock import now_ms
from memman.config import synced
from memman.config.env import change
from memman.config.places import store_path
from memman.config.schedule import refuse_stopped
from memman.config.stores import checked, exists, harmless
from memman.govern.held import acted
from memman.govern.ids import rows_of
from memman.govern.stores import Chosen, steadily, unknown
from memman.model.errors import ServerRefused, UsageError
from memman.model.text import SHORT_ID
from memman.sqlite import Transaction, TranslatedErrors, open_reader
from memman.store.opening import DSN, address, is_shared
from memman.store.postgres import members as membership
from memman.store.postgres import whole
from memman.store.postgres.roles import documented
from memman.store.postgres.server import UNHURRIED_S, Server
from memman.store.replica import leaving, position, reach
from memman.store.replica.detached import refuse_unaddressed
from memman.store.replica.store import ReplicaStore
from memman.store.sqlite.traces import withdraw

Progress = Callable[[int, int], None]
_HOLDS_SOMETHING = "SELECT EXISTS (SELECT 1 FROM memory) OR EXISTS (SELECT 1 FROM receipt)"


def connect(data: str, name: str, dsn: str, *, make: bool, progress: Progress) -> int:
    """Make the store `name` a replica of the server's store of that name, and fill it; return how much came.

    One that is a replica of it already is attached again. Killed meanwhile, the same again goes on. Raises UsageError
    where there is another store of that name, and NoServer and ServerRefused, after which nothing is changed.
    """
    harmless(name)
    known = _connected_to(data, name)
    if synced.folder(data, name):
        raise UsageError(f"store {name!r} is synced by a folder: `memman sync --off --store {name}` ends that first")
    with closing(Server(dsn)) as server:
        server.check()
        number = server.store(name, make=make and not known)
        if number is None:
            raise UsageError(
                f"the server has no store {name!r} that you are a member of: its owner adds you by `memman store"
                f" add-member {name} {server.known.role}`, or --create makes a new one"
            )
        if known not in {None, (server.id(), number)}:
            raise UsageError(
                f"store {name!r} is a replica of another store than the server {server} has:"
                f" `memman store remove {name}` moves it aside first"
            )
        with server.transaction() as db:
            if whole.filling(db, number):
                raise ServerRefused(f"the server {server} is still being given the store {name!r} by another machine")
    change(data, DSN, dsn, name)
    with closing(ReplicaStore.connected(data, name, dsn)) as store:
        store.connect(name, make=False)
        return store.pull(progress)


def _connected_to(data: str, name: str) -> tuple[str, int] | None:
    """Return the server and number that a store is a replica of, None for nothing yet. Raises UsageError for others."""
    path = store_path(data, name)
    if not exists(data, name):
        return None
    with TranslatedErrors(path), closing(open_reader(path)) as db:
        if position.moving(db):
            raise UsageError(
                f"store {name!r} is on its way to a server: `memman migrate --to postgres` goes on with it"
            )
        known = position.store(db)
        # Killed before it was connected it has an address, and nothing in it.
        if not known and (not address(data, name) or db.execute(_HOLDS_SOMETHING).get):
            raise UsageError(
                f"there is a store {name!r} here already: `memman migrate --to postgres` takes it to a server; to join"
                f" another one, export it, `memman store remove {name}`, connect and import the export"
            )
        return known


def upgrade(dsn: str, *, dry_run: bool) -> tuple[int, int]:
    """Bring a server's tables up to date; return the schema it had, and the one it has or would have."""
    with closing(Server(dsn, UNHURRIED_S)) as server:
        return server.upgrade(dry_run=dry_run)


def unbound(data: str, name: str) -> str:
    """Return our role on the server of a store, where no policy binds it; else ''."""
    with _replica(data, name) as store:
        known = store.server.known
        return known.role if known.unbound else ""


def roles(database: str) -> str:
    """Return the SQL for the roles of several people."""
    return documented(database)


def refuse_unshared(data: str, name: str) -> None:
    """Raise UnknownStore, UsageError where a store is shared with nobody, and NotSetUp without its server's address."""
    if not exists(data, checked(name)):
        raise unknown(data, name)
    if not is_shared(data, name):
        raise UsageError(f"the store {name!r} is shared with nobody: `memman store connect` connects to one that is")
    refuse_unaddressed(data, name)


@contextmanager
def _replica(data: str, name: str) -> Iterator[ReplicaStore]:
    """Open a store that is shared. Raises as `refuse_unshared` does."""
    refuse_unshared(data, name)
    with closing(ReplicaStore.connected(data, name, address(data, name))) as store:
        yield store


def members(data: str, name: str) -> list[dict[str, Any]]:
    """Return the members of a shared store."""
    with _replica(data, name) as store:
        return membership.members(store.server, store.number)


def add_member(data: str, name: str, role: str, may: str) -> str:
    """Make a role a member of a shared store; return the SQL that an administrator has yet to run for it, if any."""
    with _replica(data, name) as store:
        return membership.add(store.server, store.number, role, may)


def remove_member(data: str, name: str, role: str) -> bool:
    """End a role's membership of a shared store; False where it was no member."""
    with _replica(data, name) as store:
        return membership.remove(store.server, store.number, role)


def leave(data: str, name: str) -> int:
    """Leave a shared store: what we did not share goes from the server and stays here, the rest goes from here.

    Return how many memories stay. The caller holds the drain lock.
    """
    with _replica(data, name) as store:
        store.server.silence_s = UNHURRIED_S
        store.pull()
        membership.leave(store.server, store.number)
        with TranslatedErrors(store.path), Transaction(store.db):
            kept = leaving.keep_own(store.db)
        change(data, DSN, None, name)
        reach.forget(store.path)
        return kept


@steadily
def show_to(place: Chosen, parts: Sequence[str], visibility: str) -> list[dict[str, Any]]:
    """Have memories of ours be seen by all who share the store, or by us alone; return a record for each."""
    refuse_stopped(place.data, "share" if visibility == "shared" else "unshare")
    rows = rows_of(place, parts)
    with _replica(place.data, place.name) as store:
        now = now_ms()
        with store.unit() as unit:
            if visibility == "private":
                _refuse_hiding(store, rows)
            _refuse_others(store, rows)
            changed = {row: unit.show_to(row, visibility, now) for row in rows}
            for row in rows if visibility == "private" else ():
                withdraw(unit.db, row)
        return acted(place, store.reader, changed)


def _refuse_others(store: ReplicaStore, rows: Sequence[int]) -> None:
    """Raise UsageError where somebody else wrote one of the memories."""
    ours, known = store.reader.role(), store.reader.authorship(rows)
    for row in rows:
        author = known[row].author if row in known else ours
        if author not in {"", ours}:
            uid = store.reader.rows([row])[row].uid[:SHORT_ID]
            raise UsageError(f"{uid} was written by {author}: only its author decides who sees it")


def _refuse_hiding(store: ReplicaStore, rows: Sequence[int]) -> None:
    """Raise UsageError where others would lose a memory with the one that took its place."""
    for row in rows:
        older = store.reader.replaced_for_all(row)
        if older:
            new, old = (store.reader.rows([one])[one].uid[:SHORT_ID] for one in (row, older))
            says = f"`memman insights reinstate {old}` first"
            raise UsageError(f"{new} replaced {old}, which others share and would lose: {says}")
