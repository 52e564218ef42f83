"""`memman migrate`."""

import sys

import click

from memman.commands.person import confirm
from memman.commands.printing import bar, pairs, text
from memman.commands.team import dsn_option, read_address
from memman.commands.verb import Command, place, store_option
from memman.config import stores
from memman.config.schedule import refuse_stopped
from memman.model.errors import UsageError
from memman.model.plural import counted

_KEPT = "what is done is kept; run the same command again to go on"


@click.command(cls=Command)
@click.option(
    "--to", "target", type=click.Choice(("postgres", "sqlite")), required=True, help="Where the store is to be."
)
@dsn_option
@click.option("--all", "every", is_flag=True, help="All stores of this machine.")
@click.option("--dry-run", is_flag=True, help="Say what would be taken there, and change nothing.")
@click.option("--remove-from-server", "remove", is_flag=True, help="With sqlite: delete the store on its server.")
@store_option
def migrate(target: str, dsn: str | None, every: bool, dry_run: bool, remove: bool) -> None:
    """Take a store to a Postgres server, for other machines and people, or make it this machine's own again.

    Here it stays as it is, and drains exchange with the server what is done. A backup is taken before. `memman store
    leave` leaves what others share behind.
    """
    from memman.govern import migration
    from memman.store.opening import address as known

    here = place()
    refuse_stopped(here.data, "migrate")
    names = stores.names(here.data) if every else [here.name]
    up = target == "postgres"
    if up == remove and remove:
        raise UsageError("--remove-from-server goes with --to sqlite")
    asks = sys.stdin.isatty() and not dry_run and not all(known(here.data, name) for name in names)
    server = read_address(dsn) if up and (dsn or asks) else ""
    if dry_run:
        for name in names:
            pairs(
                {"store": name}
                | {table: str(count) for table, count in migration.survey(here.data, name).items() if count}
            )
            if server and migration.taken(server, name):
                text(f"the server has a store {name!r} already")
        return
    if remove:
        word = names[0] if len(names) == 1 else str(len(names))
        confirm("Delete on the server, for everybody?", word, [f"store: {name}" for name in names])
    for name in names:
        with bar(f"moving {name!r}", _KEPT) as progress:
            if up:
                moved = migration.to_server(here.data, name, server, progress)
            else:
                moved = migration.to_itself(here.data, name, progress, remove=remove)
        where = "on its server" if up else "this machine's own"
        if not moved.done:
            text(f"store {name!r} is {where} already")
            continue
        held = counted(moved.rows["memory"], "memory")
        text(f"store {name!r} is {where}: {held}, {counted(moved.rows['record'], 'record')}")
        if moved.backup:
            text(f"backup taken before: {moved.backup}")
