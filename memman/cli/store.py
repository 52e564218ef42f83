"""`memman store`: list, create, use, bind, remove."""

from shutil import rmtree
from typing import Any

import click

from memman.cli.address import address, dsn_option
from memman.cli.group import Group
from memman.cli.options import complete_store, data_options, json_option, place, store_option
from memman.cli.person import confirm
from memman.cli.show import printed, size, table, text
from memman.config.schedule import refuse_stopped
from memman.govern import stores as govern
from memman.model.errors import UsageError
from memman.model.plural import counted

named = click.argument("name", metavar="NAME", shell_complete=complete_store)


@click.group(cls=Group)
@store_option
def store() -> None:
    """List, create, select, bind and remove stores."""


@store.command("list")
@data_options
def list_(as_json: bool) -> None:
    """List the stores; * marks the one used here."""
    rows = govern.listed(place())
    if printed(rows, as_json=as_json):
        return
    table([_row(row) for row in rows], 300)


@store.command()
@click.argument("name")
def create(name: str) -> None:
    """Create a store."""
    made = govern.create(place().data, name)
    text(f"created store {name!r}" if made else f"store {name!r} already exists")


@store.command()
@named
def use(name: str) -> None:
    """Make a store the active one, used unless --store, MEMMAN_STORE or a binding says otherwise."""
    where = place()
    govern.use(where.data, name)
    text(f"store {name!r} is now active")
    if where.why not in {"active", "default"}:
        text(f"but here {where.why} takes precedence and selects {where.name!r}")


@store.command()
@click.argument("name", required=False, shell_complete=complete_store)
@click.option("--unset", is_flag=True, help="Remove the repository's binding.")
def bind(name: str | None, unset: bool) -> None:
    """Bind the current git repository, with all its work trees, to a store."""
    if unset == bool(name):
        raise UsageError("give the name of a store, or --unset")
    where, before = govern.bind(place().data, name)
    text(f"{where} is bound to {name!r}" if name else f"{where} is not bound to a store" + _was(before))


@store.command()
@named
def remove(name: str) -> None:
    """Remove a store: it is moved aside and can be put back.

    Notes queued for it are taken out of the queue and kept with it.
    """
    from memman.locks import drain_lock

    data = place().data
    refuse_stopped(data, "store remove")
    with drain_lock(data):
        at_stake = govern.stakes(data, name)
        confirm(f"Move store {name!r} aside?", name, govern.described(at_stake))
        target = govern.remove(data, at_stake)
    text(f"moved store {name!r} to {target}")
    if at_stake.waiting:
        text(f"took {counted(len(at_stake.waiting), 'note')} out of the queue; their text is in {target}/notes.json")
    for place_ in at_stake.bound:
        text(f"{place_} is no longer bound to a store")
    text(f"to put it back: mv {target} {data}/data/{name}")


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    mark, waiting = "*" if row["chosen"] else " ", f"{row['waiting']} waiting"
    if row["trouble"]:
        return mark, row["name"], "?", waiting, "?", row["trouble"]
    held = counted(row["memories"], "memory")
    return mark, row["name"], held, waiting, size(row["bytes"]), "active" if row["active"] else ""


def _was(before: str) -> str:
    return f" now; it was bound to {before!r}" if before else ""


@store.command()
@click.argument("name")
@dsn_option
@click.option("--create", "make", is_flag=True, help="Create the store on the server.")
def connect(name: str, dsn: str | None, make: bool) -> None:
    """Connect to a store on a Postgres server: other machines and people can share it.

    The address is asked for at the terminal unless given. One with a password is not taken from the command line,
    where others can see it.
    """
    from memman.cli.progress import bar
    from memman.govern import sharing
    from memman.locks import drain_lock

    data = place().data
    where = address(dsn)
    refuse_stopped(data, "store connect")
    with drain_lock(data), bar("connecting", "the same command goes on") as progress:
        count = sharing.connect(data, name, where, make=make, progress=progress)
    text(f"store {name!r} is connected: {counted(count, 'record')} came from the server")


@store.command()
@named
@json_option
def members(name: str, as_json: bool) -> None:
    """List the members of a shared store, and what each may do."""
    from memman.govern import sharing

    rows = sharing.members(place().data, name)
    if printed(rows, as_json=as_json):
        return
    table([(row["role"], row["may"], "you" if row["you"] else "") for row in rows])


@store.command("add-member")
@named
@click.argument("role")
@click.option("--may", type=click.Choice(("read", "write", "own")), default="write", show_default=True, help="Do what.")
def add_member(name: str, role: str, may: str) -> None:
    """Make a role of the server a member of a shared store, or change what it may do there."""
    from memman.govern import sharing

    lacking = sharing.add_member(place().data, name, role, may)
    text(f"{role} may {may} in store {name!r}")
    if lacking:
        text(f"but an administrator of the server has to open the tables to that role: {lacking};")


@store.command("remove-member")
@named
@click.argument("role")
def remove_member(name: str, role: str) -> None:
    """End a membership: what was shared stays, and what was not nobody sees."""
    from memman.govern import sharing

    done = sharing.remove_member(place().data, name, role)
    text(f"{role} is no longer a member of store {name!r}" if done else f"{role} is no member of store {name!r}")


@store.command()
@named
@click.option("--delete", is_flag=True, help="Delete what you did not share here too.")
def leave(name: str, delete: bool) -> None:
    """Leave a shared store: what you shared stays there, the rest goes from there and becomes a store of your own.

    `memman migrate --to sqlite` makes all of it a store of your own, and leaves the server as it is.
    """
    from memman.govern import sharing
    from memman.locks import drain_lock

    data = place().data
    refuse_stopped(data, "store leave")
    sharing.refuse_unshared(data, name)
    with drain_lock(data):
        confirm(f"Leave store {name!r}?", name)
        kept = sharing.leave(data, name)
        if delete:
            rmtree(govern.remove(data, govern.stakes(data, name)))
    text(f"left store {name!r}" + ("" if delete else f"; {counted(kept, 'memory')} of yours stayed here"))
