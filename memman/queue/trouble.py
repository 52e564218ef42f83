"""What keeps the user's agent from being asked, and until when it is left alone; it outlives a drain."""

import json
from dataclasses import asdict, dataclass

from memman.clock import now_ms
from memman.model.objects import record

KEY = "model_trouble:"  # and the agent's name
# Waiting time after the n-th time in a row, in seconds; and once its own limit was reached.
WAITS = (0, 60, 300, 900, 3600)
LIMITED = 3600


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why, since when, how often and until when the model is not asked."""

    why: str = ""
    since: int = 0
    times: int = 0
    until: int = 0

    @classmethod
    def load(cls, said: str) -> "Trouble":
        """Read what `save` wrote; anything else is no trouble."""
        return record(cls, said) or cls()

    def save(self) -> str:
        """Write it down; '' for none."""
        return "" if self == Trouble() else json.dumps(asdict(self))

    def again(self, why: str, *, limited: bool) -> "Trouble":
        """Return the trouble after one more time."""
        now, times = now_ms(), self.times + 1
        wait = LIMITED if limited else WAITS[min(times, len(WAITS)) - 1]
        return Trouble(why, self.since or now, times, now + wait * 1000)

    @property
    def waiting(self) -> bool:
        """Whether the model is to be left alone; a time further off than any we set means the clock was turned back."""
        return now_ms() < self.until <= now_ms() + LIMITED * 1000
