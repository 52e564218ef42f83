"""`memman migrate`."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import Any

import click

from memman.commands.person import confirm
from memman.commands.place import Place
from memman.commands.printing import Progress, bar, pairs, printed, text
from memman.commands.team import dsn_option, read_address
from memman.commands.verb import json_option, verb
from memman.config import stores, synced
from memman.config.env import change
from memman.config.schedule import refuse_stopped
from memman.locks import PATIENCE, drain_lock
from memman.model.errors import ServerRefused, UsageError
from memman.model.plural import counted
from memman.recovery.backup import take
from memman.store.opening import DSN, address, open_store
from memman.store.postgres import exchange
from memman.store.postgres.members import members
from memman.store.postgres.server import UNHURRIED_S, Server
from memman.store.sqlite.store import SqliteStore
from memman.sync.turn import exchanged

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
    if synced.folder(data, stores.checked(name)):
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
    stores.known(data, name)
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
    stores.known(data, name)
    with drain_lock(data, PATIENCE), closing(open_store(data, name)) as store:
        yield store


_KEPT = "what is done is kept; run the same command again to go on"


@verb()
@click.option(
    "--to", "target", type=click.Choice(("postgres", "sqlite")), required=True, help="Where the store is to be."
)
@dsn_option
@click.option("--all", "every", is_flag=True, help="All stores of this machine.")
@click.option("--dry-run", is_flag=True, help="Say what would be taken there, and change nothing.")
@click.option("--remove-from-server", "remove", is_flag=True, help="With sqlite: delete the store on its server.")
@json_option
def migrate(
    place: Place, target: str, dsn: str | None, *, every: bool, dry_run: bool, remove: bool, as_json: bool
) -> None:
    """Take a store to a Postgres server, or make it this machine's own again.

    Here it stays as it is, and drains exchange with the server what is done. A backup is taken before. `memman team
    leave` leaves what others share behind.
    """
    data = place.data
    refuse_stopped(data, "migrate")
    names = stores.names(data) if every else [place.name]
    up = target == "postgres"
    if up == remove and remove:
        raise UsageError("--remove-from-server goes with --to sqlite")
    asks = sys.stdin.isatty() and not dry_run and not all(address(data, name) for name in names)
    server = read_address(dsn) if up and (dsn or asks) else ""
    if dry_run:
        found = [{"store": name, **survey(data, name), "there": bool(server and taken(server, name))} for name in names]
        if not printed(found, as_json=as_json):
            _print_foreseen(found)
        return
    if remove:
        word = names[0] if len(names) == 1 else str(len(names))
        confirm("Delete on the server, for everybody?", word, [f"store: {name}" for name in names])
    done = []
    for name in names:
        with bar(f"moving {name!r}", _KEPT) as progress:
            moved = to_server(data, name, server, progress) if up else to_itself(data, name, progress, remove=remove)
        done.append(moved)
        if not as_json:
            _print_moved(moved, "on its server" if up else "this machine's own")
    printed(done, as_json=as_json)


def _print_foreseen(found: Iterable[dict[str, Any]]) -> None:
    for one in found:
        pairs({name: said for name, said in one.items() if said and name != "there"})
        if one["there"]:
            text(f"the server has a store {one['store']!r} already")


def _print_moved(moved: Moved, where: str) -> None:
    if not moved.done:
        text(f"store {moved.store!r} is {where} already")
        return
    held = counted(moved.rows["memory"], "memory")
    text(f"store {moved.store!r} is {where}: {held}, {counted(moved.rows['record'], 'record')}")
    if moved.backup:
        text(f"backup taken before: {moved.backup}")
