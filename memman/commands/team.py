"""`memman team` and `migrate`: a store that machines and people share on a Postgres server, and who sees what."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

import click

from memman.clock import now_ms
from memman.commands.person import confirm
from memman.commands.place import Place, asked_about, rows_of, steadily
from memman.commands.place import acted as done
from memman.commands.printing import acted, named, table, text
from memman.commands.store import name_argument
from memman.commands.verb import Group, ids_argument, store_option, verb
from memman.config import stores, synced
from memman.config.env import change
from memman.config.schedule import refuse_stopped
from memman.config.stores import exists, harmless, known
from memman.locks import PATIENCE, drain_lock
from memman.model.errors import NoServer, NotSetUp, ServerRefused, UsageError
from memman.model.plural import counted
from memman.model.text import SHORT_ID
from memman.model.vocabulary import CONNECTED
from memman.recovery.backup import take
from memman.recovery.taking_in import take_in
from memman.store.postgres import exchange
from memman.store.postgres import server as membership
from memman.store.postgres.server import Server
from memman.store.reach import DSN, address, refuse_reading
from memman.store.sqlite import scopes
from memman.store.sqlite.store import SqliteStore, open_store

_HOLDS_SOMETHING = "SELECT EXISTS (SELECT 1 FROM record)"

dsn_option = click.option(
    "--dsn",
    metavar="ADDRESS",
    help="postgresql://user@host/database; - asks for it at a terminal, or reads it from standard input.",
)


@click.group(cls=Group)
@store_option
def team() -> None:
    """Share a store through a Postgres server: members, and what each sees."""


def read_address(said: str | None) -> str:
    """Return a server's address; at a terminal it is asked for unless given. Raises UsageError and NotSetUp."""
    from memman.store.postgres.server import parsed

    if said in {None, "-"} and sys.stdin.isatty():
        found = str(click.prompt("Address of the server", hide_input=True))
    else:
        found = sys.stdin.readline().strip() if said in {None, "-"} else said or ""
    if not found:
        raise UsageError("no address of a server was given: write postgresql://user@host/database")
    if said == found and parsed(found).get("password"):
        raise UsageError("the address has a password, which others can see on a command line: give `--dsn -`")
    parsed(found)
    return found


@team.verb(
    shows=lambda done: text(f"store {done['name']!r} is connected: {counted(done['records'], 'record')} fetched"),
)
@click.argument("name")
@dsn_option
@click.option("--create", "make", is_flag=True, help="Create the store on the server.")
def connect(place: Place, name: str, dsn: str | None, *, make: bool = False) -> dict[str, Any]:
    """Connect to a store on a Postgres server, which other machines and people can share.

    Without --dsn the address is asked for at the terminal. An address with a password is refused on the command
    line, where others can see it. If it is interrupted, run the same command again.
    """
    where, data = read_address(dsn), place.data
    refuse_stopped(data, "team connect")
    harmless(name)
    _refuse_synced(data, name)
    with drain_lock(data), closing(Server(where)) as server:
        server.check()
        ours = _connection(data, name)
        number = server.store(name, make=make and not ours)
        if number is None:
            raise UsageError(
                f"the server has no store {name!r} that you are a member of: its owner adds you by `memman team add"
                f" {name} {server.known.role}`, or --create makes a new one"
            )
        if ours and ours[:2] != (server.id(), number):
            raise UsageError(
                f"store {name!r} is on another server than {server}, or was another store there: `memman store remove"
                f" {name}` moves it aside first"
            )
        with closing(open_store(data, name)) as store:
            exchange.connect(store, server, number)
            change(data, DSN, where, name)
            return {
                "name": name,
                "records": _exchanged(store, data, name, server),
            }


def _exchanged(store: SqliteStore, data: str, name: str, server: Server) -> int:
    """Exchange records with a server, nothing of which is to be compared; return how many came."""
    return exchange.exchange(store, server, lambda found, _seen: take_in(store, data, name, found))


def _refuse_synced(data: str, name: str) -> None:
    if synced.folder(data, name):
        raise UsageError(f"store {name!r} is synced by a folder: `memman sync --off --store {name}` ends that first")


def _connection(data: str, name: str) -> exchange.Connection | None:
    """Return what a store is connected to, None for nothing yet. Raises UsageError for one of our own."""
    if not exists(data, name):
        return None
    with closing(open_store(data, name)) as store:
        found = exchange.connection(store.db)
        if not found and store.db.execute(_HOLDS_SOMETHING).get:
            raise UsageError(
                f"there is a store {name!r} here already: `memman migrate --to postgres` moves it to a server; to join"
                f" another one, export it, `memman store remove {name}`, connect and import the export"
            )
        return found


def refuse_unshared(data: str, name: str) -> None:
    """Raise UnknownStore, UsageError where a store is shared with nobody, and NotSetUp without its server's address."""
    known(data, name)
    if address(data, name):
        return
    with closing(open_store(data, name)) as store:
        if store.reader.meta(CONNECTED):
            raise NotSetUp(f"the address of the server of store {name!r} is missing: `memman team connect {name}`")
    raise UsageError(
        f"store {name!r} is not shared: `memman migrate --to postgres` moves it to a server, `memman team connect NAME`"
        " connects to an existing one"
    )


@contextmanager
def _shared(data: str, name: str) -> Iterator[tuple[SqliteStore, Server]]:
    """Open a store that is shared, and its server. Raises as `refuse_unshared` does."""
    refuse_unshared(data, name)
    with closing(open_store(data, name)) as store, closing(Server(address(data, name))) as server:
        yield store, server


@team.verb(shows=lambda rows: table((row["role"], row["may"], "you" if row["you"] else "") for row in rows))
@click.argument("name", required=False)
def members(place: Place, name: str | None = None) -> list[dict[str, Any]]:
    """List the members of a shared store, and what each may do."""
    with _shared(place.data, name or place.name) as (store, server):
        return membership.members(server, exchange.checked(store, server).number)


def _added(done: dict[str, str]) -> None:
    text(f"{done['role']} may {done['may']} in store {done['name']!r}")
    if done["lacking"]:
        text(f"but an administrator of the server has to open the tables to that role: {done['lacking']};")


@team.verb(shows=_added)
@name_argument
@click.argument("role")
@click.option(
    "--may", type=click.Choice(("read", "write", "own")), default="write", show_default=True, help="Its rights."
)
def add(place: Place, name: str, role: str, may: str) -> dict[str, str]:
    """Add a role of the server to a shared store, or change what it may do there."""
    with _shared(place.data, name) as (store, server):
        lacking = membership.admit(server, exchange.checked(store, server).number, role, may)
    return {"name": name, "role": role, "may": may, "lacking": lacking}


def _removed(done: dict[str, Any]) -> None:
    text(f"{done['role']} is {'no longer a' if done['changed'] else 'no'} member of store {done['name']!r}")


@team.verb(shows=_removed)
@name_argument
@click.argument("role")
def remove(place: Place, name: str, role: str) -> dict[str, Any]:
    """End a membership: what was shared stays; nobody sees what was private."""
    with _shared(place.data, name) as (store, server):
        changed = membership.dismiss(server, exchange.checked(store, server).number, role)
    return {"name": name, "role": role, "changed": changed}


def _say(records: list[dict[str, Any]]) -> None:
    said = {True: "{}", False: "already {}"}
    table(acted(said[one["changed"]].format(one["visibility"]), one) for one in records)
    if not all(one["told"] for one in records):
        text("the server is out of reach: the next drain tells it")


def _ask(place: Place, ids: Sequence[str]) -> None:
    refuse_unshared(place.data, place.name)
    confirm("Show these to all who share the store?", listed=map(named, asked_about(place, ids)))


@team.verb(asks=_ask, shows=_say)
@ids_argument
def share(place: Place, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Share memories of yours with all members of the store."""
    return show_to(place, ids, "shared")


@team.verb(shows=_say)
@ids_argument
def unshare(place: Place, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Stop sharing memories of yours: the members' machines drop them at their next drain."""
    return show_to(place, ids, "private")


@steadily
def show_to(place: Place, ids: Sequence[str], visibility: str) -> list[dict[str, Any]]:
    """Have memories of ours be seen by all who share the store, or by us alone; return a record for each.

    Where its server cannot be asked, the next drain tells it.
    """
    refuse_stopped(place.data, "team share" if visibility == "shared" else "team unshare")
    rows = rows_of(place, ids)
    refuse_reading(place.data, place.name)
    with _shared(place.data, place.name) as (store, _):
        now = now_ms()
        with store.unit() as unit:
            if visibility == "private":
                _refuse_hiding(store, rows)
            _refuse_others(store, rows)
            changed = {row: unit.show_to(row, visibility, now) for row in rows}
        records = done(place, store.reader, changed)
    more = {"visibility": visibility, "told": told(place.data, place.name)}
    return [one | more for one in records]


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
        older = scopes.replaced_for_all(store.db, row)
        if older:
            new, old = (store.reader.rows([one])[one].uid[:SHORT_ID] for one in (row, older))
            says = f"`memman insights reinstate {old}` first"
            raise UsageError(f"{new} replaced {old}, which others share and would lose: {says}")


def _upgraded(done: dict[str, Any]) -> None:
    before, after = done["before"], done["after"]
    if before == after:
        text(f"the server has schema {after} already")
    else:
        text(f"the server was brought from {f'schema {before}' if before else 'nothing'} to schema {after}")


@team.verb(store=False, shows=_upgraded)
@dsn_option
def upgrade(dsn: str | None) -> dict[str, Any]:
    """Create memman's tables on a server, or upgrade them."""
    with closing(Server(read_address(dsn))) as server:
        before, after = server.upgrade()
    return {"before": before, "after": after}


# What a backup is called that is taken before a store changes sides.
_LABEL = "before-migrate"
_COUNTED = ("memory", "rule", "record")


def to_server(data: str, name: str, dsn: str) -> dict[str, Any]:
    """Take a store to a server, where others can connect to it; killed meanwhile, the same again goes on.

    Return what became of it. Raises UsageError where it is on another server, and NoServer and ServerRefused.
    """
    _refuse_synced(data, stores.checked(name))
    if not dsn:
        raise UsageError("which server? give its address by --dsn, or - to have it read from standard input")
    with _opened(data, name) as store, closing(Server(dsn)) as server:
        server.check()
        if there := exchange.connection(store.db):
            if there.server != server.id():
                raise UsageError(
                    f"store {name!r} is on another server: `memman migrate --to sqlite` brings it back first"
                )
            change(data, DSN, dsn, name)
            return _moved(store, name, done=False)
        backup = take(data, label=_LABEL, store=name).id
        number = server.store(name, make=True)
        if number is None or exchange.strange(store, server, number):
            raise ServerRefused(
                f"the server {server} has a store {name!r} already: to join it, export this one,"
                f" `memman store remove {name}`, connect and import the export"
            )
        exchange.push_all(store, server, number)
        exchange.connect(store, server, number)
        change(data, DSN, dsn, name)
        _exchanged(store, data, name, server)
        return _moved(store, name, backup)


def to_itself(data: str, name: str) -> dict[str, Any]:
    """Make a shared store this machine's own again; the server keeps it. Raises as `to_server` does."""
    dsn, backup = address(data, name), ""
    with _opened(data, name) as store:
        there = exchange.connection(store.db)
        if dsn and there:
            with closing(Server(dsn)) as server:
                _exchanged(store, data, name, server)
            backup = take(data, label=_LABEL, store=name).id
        change(data, DSN, None, name)
        exchange.disconnect(store)
        return _moved(store, name, backup, done=bool(dsn or there))


def _moved(store: SqliteStore, name: str, backup: str = "", *, done: bool = True) -> dict[str, Any]:
    rows = {kind: int(store.db.execute(f"SELECT count(*) FROM {kind}").get or 0) for kind in _COUNTED}
    return {"store": name, "rows": rows, "backup": backup, "done": done}


@contextmanager
def _opened(data: str, name: str) -> Iterator[SqliteStore]:
    """Open a store that changes sides, with every drain held off. Raises UnknownStore, and Busy."""
    known(data, name)
    with drain_lock(data, PATIENCE), closing(open_store(data, name)) as store:
        yield store


def _print_moved(moved: dict[str, Any]) -> None:
    where = "on its server" if moved["to"] == "postgres" else "this machine's own"
    if not moved["done"]:
        text(f"store {moved['store']!r} is {where} already")
        return
    held = [counted(moved["rows"][kind], kind) for kind in ("memory", "record")]
    text(f"store {moved['store']!r} is {where}: {', '.join(held)}")
    if moved["backup"]:
        text(f"backup taken before: {moved['backup']}")


@verb(shows=_print_moved)
@click.option("--to", type=click.Choice(("postgres", "sqlite")), required=True, help="Where the store will be.")
@dsn_option
def migrate(place: Place, to: str, dsn: str | None) -> dict[str, Any]:
    """Move a store to a Postgres server, or back to this machine.

    The store stays on this machine too, and drains exchange changes with the server. A backup is made first.
    If interrupted, run the same command again.
    """
    data, name = place.data, place.name
    refuse_stopped(data, "migrate")
    where = address(data, name)
    if to == "postgres" and (dsn or (not where and sys.stdin.isatty())):
        where = read_address(dsn)
    moved = to_server(data, name, where) if to == "postgres" else to_itself(data, name)
    return moved | {"to": to}
