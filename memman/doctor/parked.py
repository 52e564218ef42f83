"""Whether notes were given up on.

Looks at: notes given up on
Finds: warns
"""

from collections.abc import Iterator
from contextlib import closing

from memman.doctor.finding import Context, Finding, fail, sound, warn
from memman.model.plural import counted
from memman.queue.damage import DAMAGED
from memman.queue.view import QueueView


def check(context: Context) -> Iterator[Finding]:
    """Look for notes that were given up on."""
    with closing(QueueView(context.data)) as queue:
        notes = queue.listed(("parked",), -1)
    yield from sound(_parked(notes), "no parked notes")


def _parked(notes: list[dict[str, object]]) -> Iterator[Finding]:
    spoilt = [note for note in notes if note["error"] == DAMAGED]
    if spoilt:
        yield fail(
            f"{counted(len(spoilt), 'note')} damaged on disk before being stored",
            hint="see their text with `memman scheduler queue failed`, and remember it again",
        )
    notes = [note for note in notes if note not in spoilt]
    if notes:
        kind = str(notes[0]["error"] or "").partition(":")[0]
        over = f", last error: {kind}" if kind else ""
        yield warn(
            f"{counted(len(notes), 'note')} parked after five failed attempts{over}",
            "memman scheduler queue retry --all",
            "see `memman scheduler queue failed`",
        )
