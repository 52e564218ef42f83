"""Whether drains come to their end, on time."""

import time
from collections.abc import Iterator

from memman.config.schedule import overdue
from memman.doctor.finding import Context, Finding, fail, ok, skipped, span, warn
from memman.scheduler.report import last_run

# Seconds by which a drain may be late, after a night's sleep of the machine for one, before that is a failure.
_LATE = 3600


def check(context: Context) -> Iterator[Finding]:
    """Look when the last drain ended."""
    late, last = overdue(context.data), last_run(context.data)
    if late is not None:
        says = f"no drain for {span(late)}"
        hint = "`memman scheduler status` and `memman log worker` tell more"
        yield (fail if late > _LATE else warn)(says, "memman scheduler drain", hint)
    elif last is None:
        yield skipped("no drain has run yet")
    else:
        yield ok(f"the last drain ended {span(max(0.0, time.time() - last / 1000))} ago")
