"""The calendar as seen from one moment: what last week, March or two days ago begin and end with. Local time."""

from time import localtime, mktime

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Unix milliseconds; the second is the first that is no longer part.
    Bounds = tuple[int, int]

HOUR_MS = 3_600_000
# Days and months in a unit.
_LENGTHS = {"day": (1, 0), "week": (7, 0), "month": (0, 1), "quarter": (0, 3), "year": (0, 12)}
UNITS = frozenset(("hour", *_LENGTHS))
# So many years hold a 29 February; at noon no clock is being changed.
_LEAP_YEARS, _NOON_SECONDS = 8, 43_200


class Days:
    """Spans of time around `now` (Unix milliseconds). Raises OverflowError beyond what the system can reckon with."""

    def __init__(self, now: int) -> None:
        self.now, self.today = now, localtime(now / 1000)

    def unit(self, name: str, back: int) -> "Bounds":
        """Return the calendar unit so many units ago; an hour is the two around that moment."""
        if name == "hour":
            return self.now - (back + 1) * HOUR_MS, self.now - (back - 1) * HOUR_MS
        return self._start(name, back), self._start(name, back - 1)

    def _start(self, name: str, back: int) -> int:
        """Return the beginning of a unit; days and months out of bounds are set right by mktime."""
        t = self.today
        if name == "year":
            return midnight(t.tm_year - back, 1, 1)
        if name in {"day", "week"}:
            return midnight(t.tm_year, t.tm_mon, t.tm_mday - (back if name == "day" else t.tm_wday + 7 * back))
        first = t.tm_mon if name == "month" else t.tm_mon - (t.tm_mon - 1) % 3
        return midnight(t.tm_year, first - _LENGTHS[name][1] * back, 1)

    def past(self, name: str, count: int) -> "Bounds":
        """Return the last `count` units up to now, whole days."""
        if name == "hour":
            return self.now - count * HOUR_MS, self.now + 1
        days, months = _LENGTHS[name]
        t = self.today
        return midnight(t.tm_year, t.tm_mon - months * count, t.tm_mday - days * count), self.now + 1

    def weekday(self, number: int) -> "Bounds":
        """Return the last such day before today; Monday is 0."""
        return self.unit("day", (self.today.tm_wday - number - 1) % 7 + 1)

    def month(self, year: int | None, month: int) -> "Bounds":
        """Return a month, without a year the last that has begun."""
        year = year or self.today.tm_year - (month > self.today.tm_mon)
        return midnight(year, month, 1), midnight(year, month + 1, 1)

    def date(self, year: int | None, month: int, day: int) -> "Bounds":
        """Return a day, without a year the last such that has begun. Raises ValueError for a day that never was."""
        latest = year or self.today.tm_year - ((month, day) > (self.today.tm_mon, self.today.tm_mday))
        for tried in range(latest, latest - (1 if year else _LEAP_YEARS), -1):
            if localtime(midnight(tried, month, day) // 1000 + _NOON_SECONDS).tm_mday == day:
                return midnight(tried, month, day), midnight(tried, month, day + 1)
        raise ValueError(f"no day {day} in month {month}")


def midnight(year: int, month: int, day: int) -> int:
    """Return the Unix milliseconds at which a day begins."""
    return int(mktime((year, month, day, 0, 0, 0, 0, 0, -1))) * 1000
