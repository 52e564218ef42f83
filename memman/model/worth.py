"""How much a memory is worth keeping, from what is known of it: a pure function."""

from typing import NamedTuple

from memman.model.plural import counted
from memman.model.text import outdated

# Days in which importance loses half its weight.
HALF_LIFE = 180.0
# Worth of a session in which it was shown, and of how many of them at most.
USE, MOST_USES = 0.1, 5
# What is left of the worth of a memory that is past its end.
ENDED = 0.25
# Below this `list --least` lists, unless another bound is given: importance 3 after some 460 days without use.
BOUND = 0.1
_HIGHEST = 5
DAY_MS = 86_400_000


class Kept(NamedTuple):
    """What is known of a memory: when last said, in how many sessions shown, reliability, and why it is immune."""

    importance: int
    since: int
    uses: int = 0
    reliability: float = 0.5
    ends_at: int | None = None
    immune: str = ""


def worth(memory: Kept, now: int) -> float:
    """Return what a memory is worth: 1 for important and new, more with use, less with age and evidence against it."""
    days = max(0, now - memory.since) / DAY_MS
    decayed: float = memory.importance / _HIGHEST * 0.5 ** (days / HALF_LIFE)
    used = USE * min(memory.uses, MOST_USES)
    ended = ENDED if memory.ends_at is not None and memory.ends_at <= now else 1.0
    value: float = (decayed + used) * ended * min(1.0, 2 * memory.reliability)
    return value


def reasons(memory: Kept, now: int) -> list[str]:
    """Say what makes a memory worth so much."""
    days = max(0, now - memory.since) // DAY_MS
    said = [f"importance {memory.importance}", f"{days} d old", f"shown in {counted(memory.uses, 'session')}"]
    said += outdated(memory.ends_at, None, now)
    if memory.reliability < 0.5:  # noqa: PLR2004 - what nobody reported on
        said.append(f"reliability {memory.reliability:.2f}")
    return said
