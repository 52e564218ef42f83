"""What agents get: `memman guide`, `prime`, `hook` and `mcp`."""

from typing import TYPE_CHECKING

import click

from memman.commands.printing import lines
from memman.commands.verb import Command, said_store, verb
from memman.hot.events import EVENTS, HOSTS

if TYPE_CHECKING:
    from memman.commands.place import Place


@verb(store=False, shows=lines)
def guide() -> list[str]:
    """Print the instructions that agents get."""
    from memman.config.command import command
    from memman.config.places import data_dir
    from memman.hot.prime import guide as written

    return written(command(data_dir())).split("\n")


@verb(shows=lines)
def prime(place: "Place") -> list[str]:
    """Print the context that a new agent session starts with."""
    from memman.commands.place import standing
    from memman.hot.prime import block

    return block(place.data, place.name, standing())[0].split("\n")


@click.command(
    cls=Command,
    epilog=f"EVENT is one of {', '.join(EVENTS)}. HOST is one of {', '.join(HOSTS)}.",
    context_settings={"ignore_unknown_options": True},
    options_metavar="--host HOST",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="EVENT")
def hook(words: tuple[str, ...]) -> int:
    """Handle an agent's hook event (JSON in, JSON or nothing out); never fails."""
    from memman.hot.hook import main

    return main(words, said_store())


@verb(store=False)
def mcp() -> int:
    """Serve memory to an agent as tools of the Model Context Protocol.

    Reads messages from standard input and writes them to standard output. In a client's settings: {"command":
    "memman", "args": ["mcp"]}
    """
    from memman.mcp.server import main

    return main(said_store())
