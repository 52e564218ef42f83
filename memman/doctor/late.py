"""Whether hooks get done within their second.

Looks at: what hooks did not get done within their second in the last day ([hooks](hooks.md))
Finds: warns
"""

from collections.abc import Iterator

from memman.doctor.finding import Context, Finding, ok, warn
from memman.queue.late import MISSING, counts

_DAY = 86_400


def check(context: Context) -> Iterator[Finding]:
    """Count what they did not get done in the last day."""
    counted = {MISSING[name]: count for name, count in counts(context.data, _DAY).items() if count}
    if not counted:
        yield ok("no hook ran out of time in the last day")
        return
    said = ", ".join(f"{what} {count}" for what, count in counted.items())
    hint = "this machine is very busy at times, the disk of the data folder is slow, or memman did not start in time"
    yield warn(f"hooks did not get everything done in the last day: {said}", hint=hint)
