"""`memman server`: the tables of a Postgres server that stores are shared on."""

import click

from memman.cli.address import address, dsn_option
from memman.cli.group import Group
from memman.cli.options import store_option
from memman.cli.show import text


@click.group(cls=Group)
@store_option
def server() -> None:
    """Set up a Postgres server for stores that several machines or people share."""


@server.command()
@dsn_option
@click.option("--dry-run", is_flag=True, help="Try all of it, and take it back.")
def upgrade(dsn: str | None, dry_run: bool) -> None:
    """Make memman's tables on a server, or bring them up to date."""
    from memman.govern import sharing

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
    from memman.govern import sharing

    for line in sharing.roles(database).splitlines():
        text(line)
