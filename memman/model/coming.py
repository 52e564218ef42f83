"""The calendar ahead of one moment: when the next Friday, March or 15 March ends. Local time."""

from time import localtime, mktime

from memman.model.days import Days

_MONTHS_IN_YEAR, _HOURS = 12, 24


class Coming(Days):
    """Ends of times to come, in Unix milliseconds. Raises OverflowError and ValueError for no day of the calendar."""

    def next_weekday(self, number: int) -> int:
        """Return the end of the next such day after today; Monday is 0."""
        return self.unit("day", -((number - self.today.tm_wday - 1) % 7 + 1))[1]

    def day(self, year: int, month: int, day: int) -> int:
        """Return the end of a day, without a year (0) the next such."""
        year = year or self.today.tm_year + ((month, day) < (self.today.tm_mon, self.today.tm_mday))
        return self.date(year, _checked(month), day)[1]

    def whole_month(self, year: int, month: int) -> int:
        """Return the end of a month, without a year (0) the next such."""
        return self.month(year or self.today.tm_year + (month < self.today.tm_mon), _checked(month))[1]

    def whole_year(self, year: int) -> int:
        """Return the end of a year."""
        return self.month(year, _MONTHS_IN_YEAR)[1]


def clock(ends_at: int, hour: int, minute: int = 0) -> int:
    """Return a time of the clock on the day that ends at `ends_at`."""
    if hour == _HOURS and not minute:
        return ends_at
    last = localtime(ends_at // 1000 - 1)
    return int(mktime((last.tm_year, last.tm_mon, last.tm_mday, hour, minute, 0, 0, 0, -1))) * 1000


def _checked(month: int) -> int:
    if not 0 < month <= _MONTHS_IN_YEAR:
        raise ValueError(f"no month {month}")
    return month
