"""The small say that importance, age and use have in a score. Safe on the hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What the three may do together: a twentieth either way.
CLAMP = 0.05
_IMPORTANCE = 0.01
_AGE = 0.02
_USE = 0.001
_MOST_USES = 10
_HALF_LIFE_MS = 30 * 86_400_000


def nudge(row: "tuple[Any, ...]", newest: int) -> float:
    """Return the factor for importance, age and use, within CLAMP of 1.

    Age is counted from the store's newest memory, so that neither the clock nor
    a long pause changes an order.
    """
    importance, recorded_at, uses = row[5], row[13], row[17]
    age = max(0, newest - recorded_at)
    fresh: float = _AGE * (2 * 0.5 ** (age / _HALF_LIFE_MS) - 1)
    sway: float = _IMPORTANCE * (importance - 3) + fresh + _USE * min(uses, _MOST_USES)
    return 1 + max(-CLAMP, min(CLAMP, sway))
