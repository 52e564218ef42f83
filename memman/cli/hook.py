"""`memman hook`: what agents call; the entry point answers it before click is loaded, except for the help."""

import click

from memman.cli.options import said_store
from memman.hot.events import EVENTS, HOSTS
from memman.hot.hook import main


@click.command(
    epilog=f"EVENT is one of {', '.join(EVENTS)}. HOST is one of {', '.join(HOSTS)}.",
    context_settings={"ignore_unknown_options": True},
    options_metavar="--host HOST",
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="EVENT")
def hook(words: tuple[str, ...]) -> int:
    """Handle an agent's hook event: JSON in, JSON or nothing out; never fails."""
    return main(words, said_store())
