"""`memman completion`."""

import sys

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the shell completion script.

    For bash: memman completion bash >> ~/.bashrc
    """
    from memman.cli.root import COMPLETE, NAME, root

    kind = get_completion_class(shell)
    assert kind is not None, "click knows each of SHELLS"  # noqa: S101 - a table of ours
    sys.stdout.write(kind(root, {}, NAME, COMPLETE).source() + "\n")
