"""When a statement says that it ends: until Friday, until 2026-12-01, this week only. ISO dates and plain English.

Seen from the moment it is said, in local time; a day without a time of the clock ends at midnight. Not for the hot
path: imports re.
"""

import re
from contextlib import suppress
from datetime import datetime
from time import localtime, mktime

from memman.model.days import Days, midnight

_DAYS = "mon tue wed thu fri sat sun".split()
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NUMBERS = "one two three four five six seven eight nine ten".split()
_DAY = r"(?:(?:mon|fri|sun)(?:day)?|tue(?:s|sday)?|wed(?:nesday)?|thu(?:rs|rsday)?|sat(?:urday)?)"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t|tember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_NTH, _YEAR, _UNIT = r"(?:st|nd|rd|th)?", r"20\d\d", r"(?:day|week|month|quarter|year)"
_CLOCK = r"(?P<noon{0}>noon)|(?P<hour{0}>\d{{1,2}})(?::(?P<minute{0}>\d\d)|(?=\s?[ap]m))\s?(?P<half{0}>[ap]m)?"
_WHEN = re.compile(
    rf"""(?:(?:at\s)?(?:{_CLOCK.format("_before")})\s(?:on\s)?)?(?:the\s)?(?:
      (?P<iso>2\d{{3}}-\d\d?(?:-\d\d?)?)
    | (?P<near>today|tonight|tomorrow)
    | (?:(?:next|this|coming)\s)?(?P<weekday>{_DAY})
    | (?P<month1>{_MONTH})\s(?P<day1>\d\d?){_NTH}(?:,?\s(?P<year1>{_YEAR}))?
    | (?P<day2>\d\d?){_NTH}\s(?:of\s)?(?P<month2>{_MONTH})(?:,?\s(?P<year2>{_YEAR}))?
    | (?:end\sof\s(?:the\s|this\s)?|this\s|(?P<next>(?:end\sof\s)?next\s))(?P<unit>{_UNIT})
    | (?:end\sof\s)?(?P<month3>{_MONTH})(?:\s(?P<year3>{_YEAR}))?
    | (?:end\sof\s)?(?P<year4>{_YEAR})
    )(?!\w)(?:,?\s?(?:at\s)?(?:{_CLOCK.format("_after")})(?!\w))?""",
    re.VERBOSE,
)
_UNTIL = re.compile(r"\b(?:up\sto\sand\sincluding|until|till?|through)\s")
_ONLY = re.compile(rf"\b(?:(?:only|just)\s(?:for\s)?(this\s{_UNIT}|today)|(this\s{_UNIT}|today)\sonly)\b")
_AHEAD = re.compile(rf"\bfor\s(?:the\s)?next\s(\d{{1,3}}|{'|'.join(_NUMBERS)})\s({_UNIT})s?\b")
# What stands before an until that begins a range ("open Monday until Friday"), or tells of what is over by then.
_NO_END = re.compile(
    rf"\b(?:{_DAY}(?:\s\w+)?|\d\S*|(?:was|were)(?:(?:\s\S+){{0,2}}\s(?!\S+ed\s)\S+)?|(?:i|you|he|she|it|we|they|who|which|that)\s\w+ed)\s$"
)
_SPAN = {"h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SPANNING = re.compile(r"(\d{1,5})([hdw])")
_NOON, _HOURS, _MONTHS_IN_YEAR = 12, 24, 12
_LENGTHS = {"day": (1, 0), "week": (7, 0), "month": (0, 1), "quarter": (0, 3), "year": (0, 12)}


def ends(text: str, said_at: int) -> int | None:
    """Return when a statement says that it ends, in Unix milliseconds; None where it names no such time to come."""
    said, days = _spaced(text), Days(said_at)
    try:
        untils = (one for one in _UNTIL.finditer(said) if not _NO_END.search(said[: one.start()]))
        times = (found for one in untils if (found := _WHEN.match(said, one.end())))
        ends_at = next((_end(one, days) for one in times), None) or _bounded(said, days)
    except (OverflowError, ValueError, OSError):  # no day of the calendar
        return None
    return ends_at if ends_at and ends_at > said_at else None


def moment(text: str, now: int) -> int | None:
    """Return the end that a person names: 2026-11-30, 2026-11-30T18:00, 7d, 2w, Friday, end of March; None for none."""
    said = text.strip()
    if span := _SPANNING.fullmatch(said):
        return now + int(span[1]) * _SPAN[span[2]]
    if ":" in said:
        with suppress(ValueError, OverflowError, OSError):
            return int(datetime.fromisoformat(said).astimezone().timestamp() * 1000)
    found = _WHEN.fullmatch(_spaced(said))
    try:
        return _end(found, Days(now)) if found else None
    except (OverflowError, ValueError, OSError):
        return None


def _spaced(text: str) -> str:
    """Return a text in lower case, with single blanks, one of them before a time of the clock: 2026-12-01 18:00."""
    return re.sub(r"(?<=\d)t(?=\d\d:)", " ", " ".join(text.lower().split()))


def _bounded(said: str, days: Days) -> int | None:
    """Read this week only, for the next two weeks."""
    if only := _ONLY.search(said):
        named = (only[1] or only[2]).removeprefix("this ")
        return days.unit("day" if named == "today" else named, 0)[1]
    if ahead := _AHEAD.search(said):
        count = int(ahead[1]) if ahead[1].isdigit() else _NUMBERS.index(ahead[1]) + 1
        more_days, months = _LENGTHS[ahead[2]]
        t = days.today
        return midnight(t.tm_year, t.tm_mon + months * count, t.tm_mday + more_days * count + 1)
    return None


def _end(found: re.Match[str], days: Days) -> int:
    """Return when the time ends that was found, at the clock's time on its day where one is told."""
    ends_at = _named(found, days)
    side = next((one for one in ("_before", "_after") if found["noon" + one] or found["hour" + one]), "")
    if not side:
        return ends_at
    hour, minute = int(found["hour" + side] or _NOON), int(found["minute" + side] or 0)
    if half := found["half" + side]:
        hour = hour % _NOON + (_NOON if half == "pm" else 0)
    if hour > _HOURS:
        raise ValueError(f"no hour {hour}")
    last = localtime(ends_at // 1000 - 1)
    return int(mktime((last.tm_year, last.tm_mon, last.tm_mday, hour, minute, 0, 0, 0, -1))) * 1000


def _named(found: re.Match[str], days: Days) -> int:
    today = days.today
    if found["near"]:
        return days.unit("day", -(found["near"] == "tomorrow"))[1]
    if found["weekday"]:
        ahead = (_DAYS.index(found["weekday"][:3]) - today.tm_wday - 1) % 7 + 1
        return days.unit("day", -ahead)[1]
    if found["unit"]:
        return days.unit(found["unit"], -bool(found["next"]))[1]
    if found["iso"]:
        year, month, *rest = map(int, found["iso"].split("-"))
        day = rest[0] if rest else 0
    else:
        year = int(found["year1"] or found["year2"] or found["year3"] or found["year4"] or 0)
        name = found["month1"] or found["month2"] or found["month3"]
        month = _MONTHS.index(name[:3]) + 1 if name else 0
        day = int(found["day1"] or found["day2"] or 0)
    if found["year4"]:
        return days.month(year, _MONTHS_IN_YEAR)[1]
    if not 0 < month <= _MONTHS_IN_YEAR:
        raise ValueError(f"no month {month}")
    year = year or today.tm_year + ((month, day or today.tm_mday) < (today.tm_mon, today.tm_mday))
    return (days.date(year, month, day) if day else days.month(year, month))[1]
