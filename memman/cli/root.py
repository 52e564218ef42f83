"""The table of verbs and the root command, which loads a verb's module when the verb is used."""

import importlib
import os
from typing import Any

import click

from memman import __version__
from memman.cli.group import Group
from memman.cli.options import store_option

NAME = "memman"
COMPLETE = "_MEMMAN_COMPLETE"

# Verb -> (module below memman.cli, what `memman --help` says of it: the first line of its docstring).
VERBS: dict[str, tuple[str, str]] = {
    "install": ("install", "Wire the agents of this machine, and start the scheduler"),
    "uninstall": ("uninstall", "Take memman out of the agents and stop its scheduler; what is remembered stays"),
    "remember": ("hot", "Queue a note and print its id; the text comes as words, from a pipe, or with -"),
    "recall": ("hot", "Find what is remembered about a few words"),
    "replace": ("replace", "Queue a note that takes the place of a memory"),
    "forget": ("forget", "Retire memories, or with --undo bring them back"),
    "purge": ("purge", "Delete memories for good: nothing brings them back"),
    "status": ("status", "Show how memory is doing, on one page"),
    "insights": (
        "insights",
        "List memories, show everything known about one, protect and reinstate them, judge what was held back",
    ),
    "timeline": ("timeline", "Show what happened around a memory, or what is newest, by day"),
    "graph": ("graph", "Walk along the edges between memories, add one, or rebuild them"),
    "store": ("store", "List, make, choose, bind and remove stores"),
    "backup": ("backup", "Take backups, and bring back what they hold"),
    "config": ("config", "Read and change the configuration"),
    "scheduler": ("scheduler", "Run drains, or have them run, and look into the queue"),
    "doctor": ("doctor", "Check that everything works, and say what mends what does not"),
    "repair": ("repair", "Make a damaged store anew of what can be read of it; the damaged file is kept beside it"),
    "scan": ("scan", "Look for secrets in all that is stored, and with --fix take them out"),
    "log": ("log", "Show what was done to which memory"),
    "embed": ("embed", "Show and change what makes the vectors"),
    "pipeline": ("pipeline", "Print the stages of the drain, their versions and what they cost last"),
    "hook": ("hook", "Answer an event of an agent: JSON in, JSON or nothing out, never a failure"),
    "prime": ("prime", "Print what a session of an agent begins with"),
    "guide": ("guide", "Print what agents are told about memman"),
    "version": ("version", "Print the version"),
    "completion": ("completion", "Print the script that completes memman's command line in a shell"),
    "help": ("help", "Print this help, or that of a verb"),
}


class Verbs(Group):
    """The root command."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """Return the verbs in the order of the table."""
        return list(VERBS)

    def load(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 - the same
        """Load a verb."""
        if name not in VERBS:
            return None
        module = importlib.import_module(f"memman.cli.{VERBS[name][0]}")
        command: click.Command = getattr(module, name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - the same
        """List the verbs from the table, loading none."""
        with formatter.section("Verbs"):
            formatter.write_dl([(verb, text) for verb, (_, text) in VERBS.items()])


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"{NAME} {__version__}")
        ctx.exit()


@click.command(NAME, cls=Verbs)
@store_option
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version and leave."
)
def root() -> None:
    """Give coding agents a persistent memory.

    --store may also follow the verb; the later one wins.
    """


def invoke(args: list[str]) -> int:
    """Run a command line. Raises click's exceptions: `main` would turn a closed pipe into a failure."""
    if COMPLETE in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(root, {}, NAME, COMPLETE, os.environ[COMPLETE])
    with root.make_context(NAME, list(args) or ["--help"]) as ctx:
        result: Any = root.invoke(ctx)
    return result if isinstance(result, int) else 0
