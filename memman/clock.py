"""The time, in the unit that stores keep it."""

import time


def now_ms() -> int:
    """Return the Unix time in milliseconds."""
    return time.time_ns() // 1_000_000
