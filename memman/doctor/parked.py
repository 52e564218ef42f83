"""Whether notes were given up on."""

from collections.abc import Iterator
from contextlib import closing

from memman.doctor.finding import Context, Finding, counted, sound, warn
from memman.queue.view import QueueView


def check(context: Context) -> Iterator[Finding]:
    """Look for notes that were given up on."""
    with closing(QueueView(context.data)) as queue:
        notes = queue.listed(("parked",), -1)
    yield from sound(_parked(notes), "no note was given up on")


def _parked(notes: list[dict[str, object]]) -> Iterator[Finding]:
    if notes:
        kind = str(notes[0]["error"] or "").partition(":")[0]
        over = f", the newest over: {kind}" if kind else ""
        yield warn(
            f"{counted(len(notes), 'note')} given up on after five attempts{over}",
            "memman scheduler queue retry --all",
            "`memman scheduler queue failed` shows them",
        )
