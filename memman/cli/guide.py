"""`memman guide`: the text that tells agents about memman."""

import click

from memman.cli.show import text
from memman.config.command import command
from memman.config.places import data_dir
from memman.hot.guide import guide as written


@click.command()
def guide() -> None:
    """Print the instructions that agents get."""
    for line in written(command(data_dir())).split("\n"):
        text(line)
