"""A progress bar on standard error, where that is a terminal."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Told how much is done and how much there is in all.
Progress = Callable[[int, int], None]


@contextmanager
def bar(label: str) -> Iterator[Progress]:
    """Show a bar while something long runs."""
    if not sys.stderr.isatty():
        yield lambda done, total: None  # noqa: ARG005 - nobody looks on
        return
    from tqdm import tqdm

    with tqdm(desc=label, leave=False) as shown:

        def progress(done: int, total: int) -> None:
            shown.total = total
            shown.update(done - shown.n)

        yield progress
