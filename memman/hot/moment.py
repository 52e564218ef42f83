"""Moments as people write them: 2026-11-01, 2026-11-01T10:00, 7d, 12h."""

import time
from datetime import datetime

from memman.model.errors import UsageError

_UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_LONGEST_DIGITS = 6


def moment(text: str, option: str) -> int:
    """Return Unix milliseconds. A time without a zone is local; `7d` is seven days ago. Raises UsageError."""
    number, unit = text[:-1], text[-1:]
    if unit in _UNITS and number.isascii() and number.isdigit() and len(number) <= _LONGEST_DIGITS:
        return (time.time_ns() // 1_000_000_000 - int(number) * _UNITS[unit]) * 1000
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        shown = option.replace("_", "-")
        raise UsageError(
            f"--{shown} takes a date like 2026-11-01, a time like 2026-11-01T10:00, or 7d, 12h, 30m ago"
        ) from None
