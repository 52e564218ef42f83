"""`memman server`: the tables of a Postgres server that stores are shared on."""

import click

from memman.cli.address import address, dsn_option
from memman.cli.group import Group
from memman.cli.options import data_options, place, store_option
from memman.cli.person import confirm
from memman.cli.show import acted, named, printed, table, text
from memman.govern import sharing


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@data_options
def share(ids: tuple[str, ...], as_json: bool) -> None:
    """Show memories of yours to all who share the store."""
    from memman.govern import insights, sharing

    where = place()
    sharing.refuse_unshared(where.data, where.name)
    confirm("Show these to all who share the store?", listed=map(named, insights.shown(where, ids)))
    _say(ids, "shared", as_json=as_json)


@click.command()
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@data_options
def unshare(ids: tuple[str, ...], as_json: bool) -> None:
    """Take memories of yours back from those who share the store: from their machines at the next pull."""
    _say(ids, "private", as_json=as_json)


def _say(ids: tuple[str, ...], visibility: str, *, as_json: bool) -> None:
    records = sharing.show_to(place(), ids, visibility)
    if printed(records, as_json=as_json):
        return
    told = {True: visibility, False: f"already {visibility}"}
    table([acted(told[one["changed"]], one) for one in records])
    if not all(one["told"] for one in records):
        text("the server is out of reach: the next drain tells it")


@click.group(cls=Group)
@store_option
def server() -> None:
    """Set up a Postgres server for stores that several machines or people share."""


@server.command()
@dsn_option
@click.option("--dry-run", is_flag=True, help="Try all of it, and take it back.")
def upgrade(dsn: str | None, dry_run: bool) -> None:
    """Make memman's tables on a server, or bring them up to date."""
    before, after = sharing.upgrade(address(dsn), dry_run=dry_run)
    if before == after:
        text(f"the server has schema {after} already")
    else:
        says = "would be brought" if dry_run else "was brought"
        text(f"the server {says} from {f'schema {before}' if before else 'nothing'} to schema {after}")


@server.command()
@click.option("--database", default="memman", show_default=True, metavar="NAME", help="The database that it is for.")
def roles(database: str) -> None:
    """Print the SQL with which an administrator sets up roles for several people."""
    for line in sharing.roles(database).splitlines():
        text(line)
