"""`memman version`."""

import click

from memman import __version__
from memman.cli.show import text


@click.command()
def version() -> None:
    """Print the version."""
    text(f"memman {__version__}")
