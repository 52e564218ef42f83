"""`memman prime`: the text that a session begins with."""

import click

from memman.cli.options import place, store_option
from memman.cli.show import text


@click.command()
@store_option
def prime() -> None:
    """Print the context that a new agent session starts with."""
    from memman.govern.stores import standing
    from memman.hot.prime import block

    where = place()
    for line in block(where.data, where.name, standing())[0].split("\n"):
        text(line)
