"""`memman help`, `version` and `completion`."""

import sys

import click
from click.shell_completion import get_completion_class

from memman import __version__
from memman.commands.printing import text
from memman.commands.verb import Command, verb

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
