"""Whether the providers are well: a breaker that outlives one drain."""

from memman.queue.notes import Queue

# Transient failures in one drain before it stops trying.
TRIPS = 3
_KEY = "breaker"


class Health:
    """Counts transient failures; open, it lets each drain make one probe until one succeeds."""

    def __init__(self, queue: Queue) -> None:
        self.queue = queue
        self.probing = bool(queue.meta(_KEY))
        self.failures = 0

    @property
    def open(self) -> bool:
        """Whether to start no further note in this drain."""
        return self.failures >= (1 if self.probing else TRIPS)

    def failed(self, why: str) -> None:
        """Take note of a transient failure."""
        self.failures += 1
        if self.open and not self.probing:
            self.queue.set_meta(_KEY, why)

    def served(self) -> None:
        """Take note that a note went through: a provider that was down is up again."""
        if self.probing:
            self.probing = False
            self.failures = 0
            self.queue.set_meta(_KEY, "")
            self.queue.hurry()
