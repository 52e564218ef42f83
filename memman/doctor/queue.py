"""Whether notes get through: how many wait, how long and why, and which were given up on."""

from collections.abc import Iterator
from contextlib import closing

from memman.clock import now_ms
from memman.doctor.finding import Context, Finding, fail, sound, warn
from memman.model.plural import counted
from memman.model.text import duration
from memman.queue.damage import DAMAGED
from memman.queue.view import QueueView

# (notes, seconds) beyond which a backlog is worth a word, and beyond which nothing can be getting through.
MANY, TOO_MANY = 100, 1000
LONG, TOO_LONG = 3600, 86_400
_DRAIN = "memman scheduler drain"


def check(context: Context) -> Iterator[Finding]:
    """Look at how many notes wait, since when and why, and at those that were given up on.

    Warns above 100 notes or 1 hour, where an error keeps notes waiting, and of parked notes; fails above 1000
    notes or 1 day, and of notes damaged on disk
    """
    with closing(QueueView(context.data)) as queue:
        depth, oldest, why = queue.waiting(), queue.oldest(), queue.why()
        parked = queue.listed(("parked",), -1)
    age = 0 if oldest is None else max(0, (now_ms() - oldest) // 1000)
    says = f"{counted(depth, 'note')} queued, the oldest for {duration(age)}" if depth else "no queued notes"
    found = [*_parked(parked)]
    if depth > TOO_MANY or age > TOO_LONG:
        found.append(fail(says, _DRAIN, why))
    elif depth > MANY or age > LONG or (depth and why):
        found.append(warn(says, _DRAIN, why))
    yield from sound(found, says)


def _parked(notes: list[dict[str, object]]) -> Iterator[Finding]:
    spoilt = [note for note in notes if note["error"] == DAMAGED]
    if spoilt:
        yield fail(
            f"{counted(len(spoilt), 'note')} damaged on disk before being stored",
            hint="see their text with `memman scheduler queue failed`, and remember it again",
        )
    failed = [str(note["error"] or "") for note in notes if note not in spoilt]
    if failed:
        kind = failed[0].partition(":")[0]
        says = f"{counted(len(failed), 'note')} parked after five failed attempts"
        hint = "see `memman scheduler queue failed`"
        yield warn(f"{says}, last error: {kind}" if kind else says, "memman scheduler queue retry --all", hint)
