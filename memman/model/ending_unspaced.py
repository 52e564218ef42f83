"""When a statement in Chinese or Japanese says that it ends: 直到周五, 3月15日为止, 4月28日まで, 年内は.

They put no blanks between words, so they are read by patterns. Not for the hot path: imports re.
"""

import re

from memman.model.coming import Coming, clock
from memman.model.days import midnight

_DATE = r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?[底末]?"
_WEEKDAY = (
    "(?:(?P<next>下)?(?:个)?(?:这|本)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
    "|(?:(?P<coming>来週)の?|今週の?)?(?P<youbi>[月火水木金土日])曜日?)"
)
# A calendar unit, by its names: the unit, and how many of them ahead.
_UNITS = {
    "今天": ("day", 0), "今晚": ("day", 0), "今日": ("day", 0), "本日": ("day", 0),
    "明天": ("day", 1), "明日": ("day", 1),
    "本周末": ("week", 0), "周末": ("week", 0), "这周": ("week", 0), "本周": ("week", 0),
    "今週末": ("week", 0), "今週": ("week", 0),
    "下周": ("week", 1), "来週末": ("week", 1), "来週": ("week", 1),
    "本月底": ("month", 0), "这个月": ("month", 0), "本月": ("month", 0), "月底": ("month", 0),
    "今月末": ("month", 0), "今月": ("month", 0), "月末": ("month", 0),
    "下个月": ("month", 1), "来月末": ("month", 1), "来月": ("month", 1),
    "今年": ("year", 0), "年底": ("year", 0), "年末": ("year", 0), "年内": ("year", 0),
}  # fmt: skip
_UNIT = f"(?P<unit>{'|'.join(sorted(_UNITS, key=len, reverse=True))})"
_CLOCK = (
    r"の?(?P<part>中午|正午|上午|午前|早上|下午|午後|晚上)?(?:(?P<hour>\d{1,2})[点點时時:\uff1a](?P<minute>\d{2})?分?)?"
)
_WHEN = f"(?:{_DATE}|{_WEEKDAY}|{_UNIT}){_CLOCK}"
_ENDS = tuple(
    re.compile(one)
    for one in (
        f"(?:直到|截至|截止到?|一直到|[到至]){_WHEN}",
        f"{_WHEN}(?:为止|之前|以前|前有效|内有效)",
        f"(?:仅限?|只限?)(?:在|于)?{_WHEN}",
        f"(?<!から){_WHEN}(?:まで(?!に)|だけ|のみ|限り)",
        f"{_WHEN}(?:中は|いっぱい(?!に))",
        "(?P<unit>年内)は",
    )
)
# When a part of a day ends that is named without an hour; of the afternoon hours are counted from noon.
_PARTS = {"中午": 12, "正午": 12, "上午": 12, "午前": 12, "早上": 12, "下午": 18, "午後": 18}
_AFTERNOON, _NOON = frozenset(("下午", "午後", "晚上")), 12
_WEEKDAYS = ("一二三四五六日", "月火水木金土日")


def end(text: str, days: Coming) -> int | None:
    """Return the first end that a text tells, in Unix milliseconds. Raises ValueError for a day that never was."""
    found = min((one for one in (pattern.search(text) for pattern in _ENDS) if one), key=re.Match.start, default=None)
    return _read({name: said for name, said in found.groupdict().items() if said}, days) if found else None


def whole(text: str, days: Coming) -> int | None:
    """Return the end of the time that is all of a text: 下周三, 4月28日. Raises ValueError."""
    found = re.fullmatch(f"[到至]?{_WHEN}(?:まで)?", text)
    return _read({name: said for name, said in found.groupdict().items() if said}, days) if found else None


def _read(said: dict[str, str], days: Coming) -> int:
    ends_at = _day(said, days)
    part = said.get("part", "")
    hour = int(said["hour"]) if "hour" in said else _PARTS.get(part, 24)
    if "hour" in said and part in _AFTERNOON and hour < _NOON:
        hour += _NOON
    whole_day = hour >= 24 or not ({"unit", "weekday", "youbi", "day"} & said.keys())  # noqa: PLR2004 - hours
    return ends_at if whole_day else clock(ends_at, hour, int(said.get("minute", 0)))


def _day(said: dict[str, str], days: Coming) -> int:
    if "unit" in said:
        unit, ahead = _UNITS[said["unit"]]
        return days.unit(unit, -ahead)[1]
    if "weekday" in said or "youbi" in said:
        chinese = "weekday" in said
        number = _WEEKDAYS[not chinese].index((said["weekday"] if chinese else said["youbi"]).replace("天", "日"))
        if said.keys() & {"next", "coming"}:
            today = days.today
            return midnight(today.tm_year, today.tm_mon, today.tm_mday - today.tm_wday + number + 8)
        return days.next_weekday(number)
    year, month, day = (int(said.get(name, 0)) for name in ("year", "month", "day"))
    return days.day(year, month, day) if day else days.whole_month(year, month)
