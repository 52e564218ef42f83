"""`memman export`."""

import sys

import click

from memman.cli.options import place, store_option
from memman.cli.show import complain
from memman.model.plural import counted


@click.command()
@click.argument("path", required=False, type=click.Path())
@click.option("--vectors", is_flag=True, help="With the vectors of embedders other than the built-in one.")
@store_option
def export(path: str | None, vectors: bool) -> None:
    """Write a store's memories to a file, or to standard output: a JSON object a line.

    With all that recall depends on, and what is superseded, forgotten and held back, but without secrets.
    `memman import` takes it in.
    """
    from memman.govern import portability as govern

    here = place()
    if path is None:
        for line in govern.written(here, vectors=vectors):
            sys.stdout.write(line)
    else:
        govern.saved(here, path, vectors=vectors)
    if count := govern.waiting(here):
        complain(f"{counted(count, 'note')} still in the queue, not exported: `memman scheduler drain` stores them")
