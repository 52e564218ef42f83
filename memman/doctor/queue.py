"""Whether notes get through: how many wait, and how long.

Looks at: waiting notes
Finds: warns above 100 notes or 1 hour, and where the provider keeps failing; fails above 1000 notes or 1 day
"""

from collections.abc import Iterator
from contextlib import closing

from memman.clock import now_ms
from memman.doctor.finding import Context, Finding, fail, ok, warn
from memman.model.plural import counted
from memman.model.text import duration
from memman.queue.view import QueueView

# (notes, seconds) beyond which a backlog is worth a word, and beyond which nothing can be getting through.
MANY, TOO_MANY = 100, 1000
LONG, TOO_LONG = 3600, 86_400
_DRAIN = "memman scheduler drain"


def check(context: Context) -> Iterator[Finding]:
    """Look at how many notes wait, and since when."""
    with closing(QueueView(context.data)) as queue:
        depth, oldest, breaker = queue.waiting(), queue.oldest(), queue.meta("breaker")
    age = 0 if oldest is None else max(0, (now_ms() - oldest) // 1000)
    says = "no queued notes"
    if depth:
        says = f"{counted(depth, 'note')} queued, the oldest for {duration(age)}"
    hint = f"the provider failed: {breaker}" if breaker else ""
    if depth > TOO_MANY or age > TOO_LONG:
        yield fail(says, _DRAIN, hint)
    elif depth > MANY or age > LONG or breaker:
        yield warn(says, _DRAIN, hint)
    else:
        yield ok(says)
