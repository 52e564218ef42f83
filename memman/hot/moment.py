"""Moments as people write them: 2026-11-01, 2026-11-01T10:00, 7d, 12h, 3 days ago, yesterday, last week."""

import time
from datetime import datetime

from memman.model.errors import UsageError
from memman.recall.moments import resolve

_UNITS = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_NAMES = {"minute": "m", "hour": "h", "day": "d", "week": "w"}
_LONGEST_DIGITS = 6


def moment(text: str, option: str, now: int | None = None) -> int:
    """Return Unix milliseconds; no zone is local, a named day is its beginning. Raises UsageError."""
    clock = time.time_ns() // 1_000_000 if now is None else now
    for read in (_passed, _written, _named):
        found = read(text, clock)
        if found is not None:
            return found
    shown = option.replace("_", "-")
    raise UsageError(
        f"--{shown} takes a date like 2026-11-01, a time like 2026-11-01T10:00, 7d, 12h or 30m for so long ago,"
        " or words like yesterday, 3 days ago, last week"
    )


def end(text: str, option: str) -> int:
    """Return the moment to come, in Unix milliseconds, until when something holds. Raises UsageError."""
    from memman.model.ending import moment as ending

    now = time.time_ns() // 1_000_000
    found = ending(text, now)
    if found is not None and found > now:
        return found
    if text[-1:] == "m" and text[:-1].isdigit():
        raise UsageError(f"--{option} {text} may mean minutes or months: say 12h, 30d, or a date like 2026-12-01")
    if found is not None:
        raise UsageError(f"--{option} {text} is over already: it takes a time to come")
    raise UsageError(
        f"--{option} takes a time to come: a date like 2026-12-01, a time like 2026-12-01T18:00, 12h, 14d, 2w from now,"
        " or words like Friday, tomorrow, end of March"
    )


def _passed(text: str, now: int) -> int | None:
    """Read 7d or 7 days ago."""
    said = text.split()
    if len(said) == 3 and said[2] == "ago":  # noqa: PLR2004 - number, unit, ago
        number, unit = said[0], _NAMES.get(said[1].removesuffix("s"), "")
    else:
        number, unit = text[:-1], text[-1:]
    known = unit in _UNITS and number.isascii() and number.isdigit() and len(number) <= _LONGEST_DIGITS
    return now - int(number) * _UNITS[unit] if known else None


def _written(text: str, _: int) -> int | None:
    """Read a date or a time."""
    try:
        return int(datetime.fromisoformat(text).astimezone().timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


def _named(text: str, now: int) -> int | None:
    """Read what names a time and says nothing else."""
    span = resolve(text, now)
    return span.start if span and not span.rest else None
