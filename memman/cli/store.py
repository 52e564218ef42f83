"""`memman store`: list, create, use, bind, remove."""

from typing import Any

import click

from memman.cli.group import Group
from memman.cli.options import complete_store, json_option, place, store_option
from memman.cli.person import confirm
from memman.cli.show import as_data, size, table, text
from memman.config.schedule import refuse_stopped
from memman.model.errors import UsageError
from memman.model.plural import counted

named = click.argument("name", metavar="NAME", shell_complete=complete_store)


@click.group(cls=Group)
@store_option
def store() -> None:
    """List, create, select, bind and remove stores."""


@store.command("list")
@json_option
@store_option
def list_(as_json: bool) -> None:
    """List the stores; * marks the one used here."""
    from memman.govern import stores as govern

    rows = govern.listed(place())
    if as_json:
        as_data(rows)
        return
    table([_row(row) for row in rows], 300)


@store.command()
@click.argument("name")
def create(name: str) -> None:
    """Create a store."""
    from memman.govern import stores as govern

    made = govern.create(place().data, name)
    text(f"created store {name!r}" if made else f"store {name!r} already exists")


@store.command()
@named
def use(name: str) -> None:
    """Make a store the active one, used unless --store, MEMMAN_STORE or a binding says otherwise."""
    from memman.govern import stores as govern

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
    from memman.govern import stores as govern

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
    from memman.govern import stores as govern
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
