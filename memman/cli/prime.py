"""`memman prime`: the text that a session begins with."""

import click

from memman.cli.options import place, store_option
from memman.cli.show import text


@click.command()
@store_option
def prime() -> None:
    """Print the context that a new agent session starts with."""
    from memman.hot.prime import block

    here = place()
    for line in block(here.data, here.name)[0].split("\n"):
        text(line)
