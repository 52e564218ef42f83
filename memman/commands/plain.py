"""Verbs that print something as it is: the version, help, the shell completion script, and what agents get."""

import sys
from typing import TYPE_CHECKING

import click
from click.shell_completion import get_completion_class

from memman import __version__
from memman.commands.printing import lines, text
from memman.commands.verb import Command, said_store, verb
from memman.hot.events import EVENTS, HOSTS

if TYPE_CHECKING:
    from memman.commands.place import Place

SHELLS = ("bash", "zsh", "fish")


@verb(store=False, shows=text)
def version() -> str:
    """Print the version."""
    return f"memman {__version__}"


@click.command(cls=Command)
@click.argument("verbs", nargs=-1, metavar="[VERB]...")
@click.option("--all", "every", is_flag=True, help="Say of every verb what it does.")
@click.pass_context
def help(ctx: click.Context, verbs: tuple[str, ...], every: bool) -> None:  # noqa: A001 - the verb's name
    """Print this help, or the help of a verb."""
    from memman.commands.root import ALL

    page = ctx.find_root()
    page.meta[ALL] = every
    for word in verbs:
        if not isinstance(page.command, click.Group):
            page.fail(f"{page.command_path} has no subcommands")
        _, command, _ = page.command.resolve_command(page, [word])
        if command:
            page = click.Context(command, page, word)
    click.echo(page.get_help())


@verb(store=False, shows=lines)
def guide() -> list[str]:
    """Print the instructions that agents get."""
    from memman.config.command import command
    from memman.config.places import data_dir
    from memman.hot.guide import guide as written

    return written(command(data_dir())).split("\n")


@verb(shows=lines)
def prime(place: "Place") -> list[str]:
    """Print the context that a new agent session starts with."""
    from memman.commands.place import standing
    from memman.hot.prime import block

    return block(place.data, place.name, standing())[0].split("\n")


@verb(store=False)
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the shell completion script.

    For bash: memman completion bash >> ~/.bashrc
    """
    from memman.commands.root import COMPLETE, NAME, root

    kind = get_completion_class(shell)
    assert kind is not None, "click knows each of SHELLS"  # noqa: S101 - a table of ours
    sys.stdout.write(kind(root, {}, NAME, COMPLETE).source() + "\n")


@click.command(
    cls=Command,
    epilog=f"EVENT is one of {', '.join(EVENTS)}. HOST is one of {', '.join(HOSTS)}.",
    context_settings={"ignore_unknown_options": True},
    options_metavar="--host HOST",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="EVENT")
def hook(words: tuple[str, ...]) -> int:
    """Handle an agent's hook event: JSON in, JSON or nothing out; never fails."""
    from memman.hot.hook import main

    return main(words, said_store())
