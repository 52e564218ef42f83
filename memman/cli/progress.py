"""A progress bar on standard error, where that is a terminal, and what a person who breaks the work off is told."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from memman.cli.show import complain

# Told how much is done and how much there is in all.
Progress = Callable[[int, int], None]
# Columns of a terminal that does not say how many it has.
_COLUMNS = 80


@contextmanager
def bar(label: str, kept: str) -> Iterator[Progress]:
    """Show a bar while something long runs; `kept` is what a person is told who breaks it off by Ctrl-C."""
    try:
        with _shown(label) as progress:
            yield progress
    except KeyboardInterrupt:
        complain(f"{label} was interrupted: {kept}")
        raise


@contextmanager
def _shown(label: str) -> Iterator[Progress]:
    if not sys.stderr.isatty():
        yield lambda done, total: None  # noqa: ARG005 - nobody looks on
        return
    from tqdm import tqdm

    columns = os.get_terminal_size(sys.stderr.fileno()).columns
    with tqdm(desc=label, leave=False, ncols=None if columns else _COLUMNS) as shown:

        def progress(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield progress
