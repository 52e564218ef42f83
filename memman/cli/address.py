"""The address of a server, from where no other user of this machine can read it."""

import sys

import click

from memman.model.errors import UsageError

dsn_option = click.option(
    "--dsn",
    metavar="ADDRESS",
    help="postgresql://user@host/database; - asks for it at a terminal, or reads it from standard input.",
)


def address(said: str | None) -> str:
    """Return a server's address; at a terminal it is asked for unless given. Raises UsageError and NotSetUp."""
    from memman.store.postgres.address import parsed

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
