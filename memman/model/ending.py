"""When a statement says that it ends: until Friday, bis Ende März, this week only. Dates in six languages.

Seen from the moment it is said, in local time; a day ends at midnight. Not for the hot path: imports re.
"""

import re
from datetime import datetime

from memman.model.days import Days, midnight

_WEEKDAYS = """
    monday mon montag lundi lunes segunda segunda-feira 周一 星期一
    tuesday tue tues dienstag mardi martes terça terça-feira 周二 星期二
    wednesday wed mittwoch mercredi miércoles miercoles quarta quarta-feira 周三 星期三
    thursday thu thurs donnerstag jeudi jueves quinta quinta-feira 周四 星期四
    friday fri freitag vendredi viernes sexta sexta-feira 周五 星期五
    saturday sat samstag sonnabend samedi sábado sabado 周六 星期六
    sunday sun sonntag dimanche domingo 周日 星期日 周天 星期天
"""
_MONTHS = """
    january jan januar jänner janvier enero janeiro
    february feb februar février fevrier febrero fevereiro
    march mar märz maerz mars marzo março
    april apr avril abril
    may mai mayo maio
    june jun juni juin junio junho
    july jul juli juillet julio julho
    august aug août aout agosto
    september sep sept septembre septiembre setembro
    october oct oktober okt octobre octubre outubro
    november nov novembre noviembre novembro
    december dec dezember dez décembre decembre diciembre dezembro
"""
_UNIT_NAMES = {
    "day": "day days tag tage tagen jour jours día días dia dias",
    "week": "week weeks woche wochen semaine semaines semana semanas kalenderwoche",
    "month": "month months monat monats monate monaten mois mes meses mês",
    "quarter": "quarter quarters quartal quartals quartale trimestre trimestres",
    "year": "year years jahr jahrs jahres jahre jahren an ans année années año años ano anos",
}
_ENDS_OF = {
    "day": "eod", "week": "eow wochenende weekend finde", "month": "eom monatsende", "quarter": "eoq quartalsende",
    "year": "eoy jahresende",
}  # fmt: skip
_NUMBER_WORDS = """
    one a an eine einen ein un une una uno um uma
    two zwei deux dos dois duas couple
    three drei trois tres três
    four vier quatre cuatro quatro
    five fünf cinq cinco
    six sechs seis
    seven sieben sept siete sete
    eight acht huit ocho oito
    nine neun neuf nueve nove
    ten zehn dix diez dez
"""


def _rows(table: str) -> dict[str, int]:
    return {name: n for n, line in enumerate(table.strip().splitlines()) for name in line.split()}


def _by_name(table: dict[str, str]) -> dict[str, str]:
    return {name: unit for unit, names in table.items() for name in names.split()}


_DAYS, _MONTHS_BY_NAME = _rows(_WEEKDAYS), {name: n + 1 for name, n in _rows(_MONTHS).items()}
_UNITS, _ENDINGS = _by_name(_UNIT_NAMES), _by_name(_ENDS_OF)
_NUMBERS = {name: n + 1 for name, n in _rows(_NUMBER_WORDS).items()}
_UNTIL = frozenset("until till til through thru bis jusqu'à jusqu'au jusqu'en jusqu'aux jusqu hasta até".split())
_TODAY = frozenset("today tonight heute aujourd'hui hoy hoje".split())
_TOMORROW = frozenset("tomorrow morgen demain mañana amanhã".split())
_END = frozenset("end ende fin final finales fim".split())
_NEXT = frozenset(
    """next coming nächste nächsten nächster nächstes kommende kommenden prochain prochaine prochains prochaines
    próximo próxima próximos próximas""".split()
)
_THIS = frozenset("this current diese diesen dieses dieser cette ce cet esta este nesta neste essa esse".split())
_ONLY = frozenset(
    "only just nur lediglich seulement uniquement juste solo sólo solamente únicamente só somente apenas".split()
)
_FOR = frozenset("for für pour por para".split())
_SUBJECTS = frozenset("i you he she it we they who which that".split())
_WAS = frozenset(("was", "were"))
# Words before an until that its verb is looked for in.
_NEAR = 4
# What may stand between an until and its time, and inside of it.
_FILLING = frozenset(
    """the of on at in to up and including incl inclusive einschließlich zum zur zu dem den der des das am im le la les
    l'année du de des el los las del al a à au en o os as do da dos das ao""".split()
)
_WORD = re.compile(r"\d{1,2}\.\d{1,2}\.(?:\d{4})?|[^\W_]+(?:[-./'][^\W_]+)*")
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|º|ª)?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})?")
_ISO = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?(?:t.*)?")
_YEARS, _MOST_COUNTED, _LAST_DAY, _MONTHS_IN_YEAR = range(2000, 2200), 400, 31, 12
_SPAN = {"h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
# Chinese is read by patterns, for it has no blanks.
_HAN_DAY = "(?P<next>下)?(?:个)?(?:这|本)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
_HAN_DATE = r"(?:(?P<year>\d{4})年)?(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?底?"
_HAN_UNIT = "(?P<unit>今天|今晚|明天|本周末|周末|这周|本周|下周|本月底|这个月|本月|月底|下个月|今年|年底)"
_HAN_WHEN = f"(?:{_HAN_DATE}|{_HAN_DAY}|{_HAN_UNIT})"
_HAN = re.compile(
    f"(?:直到|截至|截止到?|一直到|[到至]){_HAN_WHEN}"
    f"|{_HAN_WHEN.replace('?P<', '?P<b')}(?:为止|之前|以前|前有效|内有效)"
    f"|(?:仅限?|只限?)(?:在|于)?{_HAN_WHEN.replace('?P<', '?P<c')}"
)
_HAN_UNITS = {
    "今天": ("day", 0), "今晚": ("day", 0), "明天": ("day", 1), "本周末": ("week", 0), "周末": ("week", 0),
    "这周": ("week", 0), "本周": ("week", 0), "下周": ("week", 1), "本月底": ("month", 0), "这个月": ("month", 0),
    "本月": ("month", 0), "月底": ("month", 0), "下个月": ("month", 1), "今年": ("year", 0), "年底": ("year", 0),
}  # fmt: skip

# An end in Unix milliseconds, and after how many words it is told.
Found = tuple[int, int]


def ends(text: str, said_at: int) -> int | None:
    """Return when a statement says that it ends, in Unix milliseconds; None where it names no such time to come."""
    try:
        found = _Statement(text, said_at).end() or _han(text, Days(said_at))
    except (OverflowError, ValueError, OSError):  # no day of the calendar
        return None
    return found if found and found > said_at else None


def moment(text: str, now: int) -> int | None:
    """Return the end that a person names: 2026-11-30, 2026-11-30T18:00, 7d, 2w, Friday, end of March; None for none."""
    said = text.strip()
    if said[-1:] in _SPAN and said[:-1].isascii() and said[:-1].isdigit() and len(said) < 6:  # noqa: PLR2004
        return now + int(said[:-1]) * _SPAN[said[-1]]
    if ":" in said:
        try:
            return int(datetime.fromisoformat(said).astimezone().timestamp() * 1000)
        except (ValueError, OverflowError, OSError):
            return None
    words = _Statement(said, now)
    try:
        found = words.when(0)
        whole = found is not None and not [word for word in words.words[found[1] :] if word not in _FILLING]
        return found[0] if found and whole else _han(f"到{said}", Days(now))
    except (OverflowError, ValueError, OSError):
        return None


class _Statement:
    """The words of a statement, in lower case, '' beyond either end."""

    def __init__(self, text: str, now: int) -> None:
        self.words = _WORD.findall(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
        self.days = Days(now)

    def __getitem__(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

    def end(self) -> int | None:
        """Return the first end that is told."""
        for at, word in enumerate(self.words):
            found = self.when(at + 1) if word in _UNTIL and not (self._ranging(at) or self._over(at)) else None
            found = found or self._only(at) or self._ahead(at)
            if found:
                return found[0]
        return None

    def _ranging(self, at: int) -> bool:
        """Whether what stands before the until begins a range: from Monday (noon) until Friday, from 5 to 2000."""
        return not _DAYS.keys().isdisjoint((self[at - 1], self[at - 2])) or self[at - 1][:1].isdigit()

    def _over(self, at: int) -> bool:
        """Whether English tells of what is over by then: we waited until, it was down until.

        What was moved, or is frozen, until a day is so until that day.
        """
        if self[at - 1].endswith("ed"):
            return self[at - 2] in _SUBJECTS
        return not _WAS.isdisjoint(self.words[max(0, at - _NEAR) : at])

    def when(self, at: int) -> Found | None:
        """Read a time from word `at` on."""
        at = self._past(at, _FILLING | _THIS if self._unit(at) is None else _FILLING)
        for rule in (self._named, self._date, self._end_of, self._unit, self._month, self._year):
            if found := rule(at):
                return found
        return None

    def _past(self, at: int, words: frozenset[str]) -> int:
        while self[at] in words and not (self[at] in _THIS and self[at + 1] in _UNITS):
            at += 1
        return at

    def _named(self, at: int) -> Found | None:
        """Read tomorrow, Friday, next Friday."""
        if self[at] in _TODAY | _TOMORROW:
            return self.days.unit("day", -(self[at] in _TOMORROW))[1], at + 1
        at += self[at] in _NEXT
        return (self.weekday(_DAYS[self[at]]), at + 1) if self[at] in _DAYS else None

    def weekday(self, number: int) -> int:
        """Return the end of the next such day after today; Monday is 0."""
        return self.days.unit("day", -((number - self.days.today.tm_wday - 1) % 7 + 1))[1]

    def _date(self, at: int) -> Found | None:
        """Read 2026-03-15, 15.3.2026, March 15th, 15 de marzo de 2026."""
        if iso := _ISO.fullmatch(self[at]):
            year, month, day = (int(part or 0) for part in iso.groups())
            return self.day_of(year, month, day) if day else self.whole_month(year, month), at + 1
        if dotted := _DOTTED.fullmatch(self[at]):
            day, month, year = (int(part or 0) for part in dotted.groups())
            return self.day_of(year, month, day), at + 1
        then = self._past(at + 1, _FILLING)
        for day_at, month_at in ((at, then), (at + 1, at)):
            day, month = self._number(day_at), _MONTHS_BY_NAME.get(self[month_at], 0)
            if day and month:
                year_at = self._past(max(day_at, month_at) + 1, _FILLING)
                year = self._year_at(year_at)
                return self.day_of(year, month, day), (year_at if year else max(day_at, month_at)) + 1
        return None

    def day_of(self, year: int, month: int, day: int) -> int:
        """Return the end of a day, without a year (0) the next such. Raises ValueError."""
        today = self.days.today
        year = year or today.tm_year + ((month, day) < (today.tm_mon, today.tm_mday))
        if not 0 < month <= _MONTHS_IN_YEAR:
            raise ValueError(f"no month {month}")
        return self.days.date(year, month, day)[1]

    def whole_month(self, year: int, month: int) -> int:
        """Return the end of a month, without a year (0) the next such. Raises ValueError."""
        if not 0 < month <= _MONTHS_IN_YEAR:
            raise ValueError(f"no month {month}")
        return self.days.month(year or self.days.today.tm_year + (month < self.days.today.tm_mon), month)[1]

    def _end_of(self, at: int) -> Found | None:
        """Read the end of the week, Ende März, EOW."""
        if self[at] in _ENDINGS:
            return self.days.unit(_ENDINGS[self[at]], 0)[1], at + 1
        if self[at] in _END:
            then = self._past(at + 1, _FILLING | _THIS)
            return self._unit(then, bare=True) or self._month(then) or self._year(then)
        # The month end.
        return (self.days.unit(_UNITS[self[at]], 0)[1], at + 2) if self[at] in _UNITS and self[at + 1] in _END else None

    def _unit(self, at: int, *, bare: bool = False) -> Found | None:
        """Read this month, next week, semaine prochaine, semana que viene."""
        if self[at] in _NEXT | _THIS and self[at + 1] in _UNITS:
            return self.days.unit(_UNITS[self[at + 1]], -(self[at] in _NEXT))[1], at + 2
        if self[at] not in _UNITS:
            return None
        if self[at + 1] in _NEXT or (self[at + 1], self[at + 2]) in {("que", "viene"), ("que", "vem")}:
            return self.days.unit(_UNITS[self[at]], -1)[1], at + 2 + (self[at + 1] == "que")
        return (self.days.unit(_UNITS[self[at]], 0)[1], at + 1) if bare else None

    def _month(self, at: int) -> Found | None:
        """Read March, March 2027, Q3."""
        at += self[at] in _NEXT
        then = self._past(at + 1, _FILLING)
        year = self._year_at(then)
        after = then + 1 if year else at + 1
        if self[at] in _MONTHS_BY_NAME:
            return self.whole_month(year, _MONTHS_BY_NAME[self[at]]), after
        if re.fullmatch("q[1-4]", self[at]):
            return self.whole_month(year, 3 * int(self[at][1])), after
        return None

    def _year(self, at: int) -> Found | None:
        year = self._year_at(at)
        return (self.days.month(year, _MONTHS_IN_YEAR)[1], at + 1) if year else None

    def _year_at(self, at: int) -> int:
        year = int(self[at]) if re.fullmatch(r"\d{4}", self[at]) else 0
        return year if year in _YEARS else 0

    def _number(self, at: int) -> int:
        found = _ORDINAL.fullmatch(self[at])
        return int(found[1]) if found and 0 < int(found[1]) <= _LAST_DAY else 0

    def _only(self, at: int) -> Found | None:
        """Read only this week, this week only, just for today, for this month."""
        if self[at] in _ONLY | _FOR:
            then = at + 1 + (self[at + 1] in _FOR)
            return self._current(then)
        found = self._current(at)
        return found if found and self[found[1]] in _ONLY else None

    def _current(self, at: int) -> Found | None:
        if self[at] in _TODAY:
            return self.days.unit("day", 0)[1], at + 1
        here = self[at] in _THIS and self[at + 1] in _UNITS
        return (self.days.unit(_UNITS[self[at + 1]], 0)[1], at + 2) if here else None

    def _ahead(self, at: int) -> Found | None:
        """Read the next three days, les trois prochains jours."""
        for count_at, next_at in ((at + 1, at), (at, at + 1)):
            count = self._counted(count_at)
            if count and self[next_at] in _NEXT and self[at + 2] in _UNITS:
                return self._after(count, _UNITS[self[at + 2]]), at + 3
        return None

    def _counted(self, at: int) -> int:
        digits = re.fullmatch(r"\d{1,3}", self[at])
        count = int(digits[0]) if digits else _NUMBERS.get(self[at], 0)
        return count if count <= _MOST_COUNTED else 0

    def _after(self, count: int, unit: str) -> int:
        days, months = {"day": (1, 0), "week": (7, 0), "month": (0, 1), "quarter": (0, 3), "year": (0, 12)}[unit]
        t = self.days.today
        return midnight(t.tm_year, t.tm_mon + months * count, t.tm_mday + days * count + 1)


def _han(text: str, days: Days) -> int | None:
    """Read a Chinese end: 直到周五, 3月15日为止, 仅限本周."""
    found = _HAN.search(text)
    if not found:
        return None
    said = {name.lstrip("bc") if name[1:] in _HAN_GROUPS else name: v for name, v in found.groupdict().items() if v}
    words = _Statement("", days.now)
    words.days = days
    if "unit" in said:
        unit, ahead = _HAN_UNITS[said["unit"]]
        return days.unit(unit, -ahead)[1]
    if "weekday" in said:
        number = min("一二三四五六日天".index(said["weekday"]), 6)
        return words.weekday(number) + (_SPAN["w"] if "next" in said else 0)
    year, month, day = (int(said.get(name, 0)) for name in ("year", "month", "day"))
    return words.day_of(year, month, day) if day else words.whole_month(year, month)


_HAN_GROUPS = frozenset(("year", "month", "day", "next", "weekday", "unit"))
