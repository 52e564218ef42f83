"""Whether the providers are well: a breaker that outlives one drain."""

from collections.abc import Callable

from memman.queue.notes import Queue

# Transient failures, with no note served between them, before drains stop trying.
TRIPS = 3
_KEY = "breaker"
_STREAK = "failures"


class Health:
    """Counts transient failures from drain to drain; at TRIPS each drain makes one probe until one succeeds."""

    def __init__(
        self,
        queue: Queue,
        tell: Callable[..., None] = lambda event, **fields: None,  # noqa: ARG005 - nobody looks on by default
    ) -> None:
        self.queue, self.tell = queue, tell
        said = queue.meta(_STREAK)
        self.streak = int(said) if said.isdecimal() else 0
        self.probing = self.streak >= TRIPS
        self.probed = False

    @property
    def open(self) -> bool:
        """Whether to start no further note in this drain."""
        return self.probed if self.probing else self.streak >= TRIPS

    def failed(self, why: str) -> None:
        """Take note of a transient failure."""
        self.streak += 1
        self.probed = True
        self.queue.set_meta(_STREAK, str(self.streak))
        if self.streak >= TRIPS:
            self.queue.set_meta(_KEY, why)
        if self.streak == TRIPS:
            self.tell("breaker opened", why=why)

    def learned_nothing(self) -> None:
        """Take note that a note failed by its own fault: a probe that told nothing, so the next drain makes another."""
        self.probed = True

    def served(self) -> None:
        """Take note that a note went through: a provider that was down is up again."""
        if not self.streak:
            return
        tripped, self.streak = self.streak >= TRIPS, 0
        self.queue.set_meta(_STREAK, "")
        if tripped:
            self.queue.set_meta(_KEY, "")
            self.tell("breaker closed")
        if self.probing:
            self.probing = False
            self.queue.hurry()
            self.queue.rewind()
