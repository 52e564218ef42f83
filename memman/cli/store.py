"""`memman store`: list, create, use, bind, remove."""

from typing import Any

import click

from memman.cli.group import Group
from memman.cli.options import complete_store, json_option, place, store_option
from memman.cli.person import confirm
from memman.cli.show import as_data, size, table, text
from memman.config.schedule import refuse_stopped
from memman.model.errors import UsageError

named = click.argument("name", metavar="NAME", shell_complete=complete_store)


@click.group(cls=Group)
@store_option
def store() -> None:
    """List, make, choose, bind and remove stores."""


@store.command("list")
@json_option
@store_option
def list_(as_json: bool) -> None:
    """List the stores; * marks the one a command means here."""
    from memman.govern import stores as govern

    rows = govern.listed(place())
    if as_json:
        as_data(rows)
        return
    table([_row(row) for row in rows], 300)


@store.command()
@click.argument("name")
def create(name: str) -> None:
    """Make a store."""
    from memman.govern import stores as govern

    made = govern.create(place().data, name)
    text(f"created store {name!r}" if made else f"store {name!r} is there already")


@store.command()
@named
def use(name: str) -> None:
    """Make a store the active one, wherever nothing else says which."""
    from memman.govern import stores as govern

    where = place()
    govern.use(where.data, name)
    text(f"store {name!r} is now active")
    if where.why not in {"active", "default"}:
        text(f"here {where.why} goes before it, and means {where.name!r}")


@store.command()
@click.argument("name", required=False, shell_complete=complete_store)
@click.option("--unset", is_flag=True, help="Unbind the repository.")
def bind(name: str | None, unset: bool) -> None:
    """Bind the current git repository to a store; all its work trees share that."""
    from memman.govern import stores as govern

    if unset == bool(name):
        raise UsageError("give the name of a store, or --unset")
    where, before = govern.bind(place().data, name)
    text(f"{where} is bound to {name!r}" if name else f"{where} is bound to no store" + _was(before))


@store.command()
@named
def remove(name: str) -> None:
    """Move a store aside, from where it can be put back.

    Notes that wait for it leave the queue and are kept beside it.
    """
    from memman.drain.lock import drain_lock
    from memman.govern import stores as govern

    data = place().data
    refuse_stopped(data, "store remove")
    with drain_lock(data):
        at_stake = govern.stakes(data, name)
        confirm(f"Move store {name!r} aside?", name, govern.described(at_stake))
        target = govern.remove(data, at_stake)
    text(f"moved store {name!r} to {target}")
    if at_stake.waiting:
        text(f"{len(at_stake.waiting)} waiting notes left the queue; their text is in {target}/notes.json")
    for place_ in at_stake.bound:
        text(f"{place_} is bound to no store now")
    text(f"to put it back: mv {target} {data}/data/{name}")


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    mark, waiting = "*" if row["chosen"] else " ", f"{row['waiting']} waiting"
    if row["trouble"]:
        return mark, row["name"], "?", waiting, "?", row["trouble"]
    held = f"{row['memories']} memories"
    return mark, row["name"], held, waiting, size(row["bytes"]), "active" if row["active"] else ""


def _was(before: str) -> str:
    return f" now; it was bound to {before!r}" if before else ""
