"""`memman export`."""

import sys

import click

from memman.commands.printing import complain, text
from memman.commands.verb import Command, place, store_option
from memman.model.errors import UsageError
from memman.model.plural import counted


@click.command(cls=Command)
@click.argument("path", required=False, type=click.Path())
@click.option(
    "--format",
    "form",
    type=click.Choice(("jsonl", "markdown")),
    default="jsonl",
    show_default=True,
    help="One file that memman restores, or a folder with a file a memory.",
)
@click.option("--git", is_flag=True, help="With markdown: commit the folder, which becomes a git repository.")
@click.option("--vectors", is_flag=True, help="With the vectors of embedders other than the built-in one.")
@store_option
def export(path: str | None, form: str, git: bool, vectors: bool) -> None:
    """Write a store's memories to a file, or to standard output: a JSON object a line.

    With all that recall depends on, and what is superseded, forgotten and held back, but without secrets.
    `memman import` takes it in; `-` is standard output. A folder of Markdown is for people: a file a memory, linked to
    one another.
    """
    from memman.govern import portability as govern

    here, path = place(), None if path == "-" else path
    if form == "markdown":
        if path is None:
            raise UsageError("which folder? memman export --format markdown FOLDER")
        if vectors:
            raise UsageError("--vectors goes with --format jsonl: Markdown has none")
        done = govern.unfolded(here, path, repository=git)
        text(f"{counted(len(done.written), 'file')} written, {len(done.removed)} removed")
        for name in done.edited:
            text(f"edited, and left as it is: {name}; `memman import {path}` takes it in")
    elif git:
        raise UsageError("--git commits a folder of Markdown: give --format markdown too")
    elif path is None:
        for line in govern.written(here, vectors=vectors):
            sys.stdout.write(line)
    else:
        govern.saved(here, path, vectors=vectors)
    if count := govern.waiting(here):
        complain(f"{counted(count, 'note')} still in the queue, not exported: `memman scheduler drain` stores them")
