"""`memman export`: memories taken out to a file or a folder."""

import os
import sys
from collections.abc import Iterator

import click

from memman.commands.place import Place, looking, reading
from memman.commands.printing import complain, text
from memman.commands.verb import verb
from memman.config.places import put_file
from memman.model.errors import CannotWrite, UsageError
from memman.model.plural import counted
from memman.portable import export as export_


@verb()
@click.argument("path", required=False, type=click.Path())
def export(place: Place, path: str | None = None) -> None:
    """Write a store's memories to a file, or to standard output: a JSON object a line.

    With all that recall depends on, and what is superseded, forgotten and held back, but without secrets.
    `memman import` takes it in; `-` is standard output. `memman wiki build` writes a folder of Markdown for people.
    """
    if path is None or path == "-":
        for line in written(place):
            sys.stdout.write(line)
    else:
        saved(place, path)
        if os.path.isfile(path):
            text(f"{counted(held(place), 'memory')} exported to {path}")
    if count := waiting(place):
        complain(f"{counted(count, 'note')} still in the queue, not exported: `memman scheduler drain` stores them")


def written(place: Place) -> Iterator[str]:
    """Yield the lines of a store's export. Raises UnknownStore."""
    with reading(place) as catalogue:
        yield from export_.written(place.name, catalogue)


def saved(place: Place, path: str) -> None:
    """Write a store's export to a private file, over an older export only, or into a pipe. Raises CannotWrite."""
    try:
        if os.path.exists(path) and not os.path.isfile(path):
            with open(path, "w", encoding="utf-8") as stream:
                stream.writelines(written(place))
            return
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                ours = export_.ours(file.readline())
            if not ours and os.path.getsize(path):
                raise UsageError(f"{path} is there already and no export of memman: give another name")
        put_file(os.path.abspath(path), "".join(written(place)))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "another file is there, which is not text"
        raise CannotWrite(f"{path} could not be written ({why})") from error


def held(place: Place) -> int:
    """Count the memories of a store, whatever became of them."""
    with reading(place) as catalogue:
        return sum(catalogue.tally("status").values())


def waiting(place: Place) -> int:
    """Count the notes that are no memories yet, and in no export."""
    with looking(place) as (_, queue):
        return len(queue.of(place.name))
