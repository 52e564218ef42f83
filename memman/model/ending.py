"""When a statement says that it ends: until Friday, bis Ende März, this week only. Dates in eight languages.

Seen from the moment it is said, in local time; a day without a time of the clock ends at midnight. Not for the hot
path: imports re.
"""

import re
from contextlib import suppress
from datetime import datetime

from memman.model import ending_unspaced
from memman.model.coming import Coming, clock
from memman.model.days import midnight

_WEEKDAYS = """
    monday mon montag lundi lunes segunda segunda-feira понедельник понедельника
    tuesday tue tues dienstag mardi martes terça terça-feira вторник вторника
    wednesday wed mittwoch mercredi miércoles miercoles quarta quarta-feira среда среды среду
    thursday thu thurs donnerstag jeudi jueves quinta quinta-feira четверг четверга
    friday fri freitag vendredi viernes sexta sexta-feira пятница пятницы пятницу
    saturday sat samstag sonnabend samedi sábado sabado суббота субботы субботу
    sunday sun sonntag dimanche domingo воскресенье воскресенья
"""
_MONTHS = """
    january jan januar jänner janvier enero janeiro январь января январе
    february feb februar février fevrier febrero fevereiro февраль февраля феврале
    march mar märz maerz mars marzo março март марта марте
    april apr avril abril апрель апреля апреле
    may mai mayo maio май мая мае
    june jun juni juin junio junho июнь июня июне
    july jul juli juillet julio julho июль июля июле
    august aug août aout agosto август августа августе
    september sep sept septembre septiembre setembro сентябрь сентября сентябре
    october oct oktober okt octobre octubre outubro октябрь октября октябре
    november nov novembre noviembre novembro ноябрь ноября ноябре
    december dec dezember dez décembre decembre diciembre dezembro декабрь декабря декабре
"""
_UNIT_NAMES = {
    "day": "day days tag tage tagen jour jours día días dia dias день дня дней",
    "week": "week weeks woche wochen semaine semaines semana semanas kalenderwoche неделя недели неделю неделе недель",
    "month": "month months monat monats monate monaten mois mes meses mês месяц месяца месяце месяцев",
    "quarter": "quarter quarters quartal quartals quartale trimestre trimestres квартал квартала квартале",
    "year": "year years jahr jahrs jahres jahre jahren an ans année années año años ano anos год года году лет",
}
_ENDS_OF = {
    "day": "eod", "week": "eow wochenende weekend finde", "month": "eom monatsende", "quarter": "eoq quartalsende",
    "year": "eoy jahresende",
}  # fmt: skip
_NUMBER_WORDS = """
    one a an eine einen ein un une una uno um uma один одну одного
    two zwei deux dos dois duas couple два две двух
    three drei trois tres três три трёх трех
    four vier quatre cuatro quatro четыре четырёх
    five fünf cinq cinco пять пяти
    six sechs seis шесть шести
    seven sieben sept siete sete семь семи
    eight acht huit ocho oito восемь восьми
    nine neun neuf nueve nove девять девяти
    ten zehn dix diez dez десять десяти
"""


def _rows(table: str) -> dict[str, int]:
    return {name: n for n, line in enumerate(table.strip().splitlines()) for name in line.split()}


def _by_name(table: dict[str, str]) -> dict[str, str]:
    return {name: unit for unit, names in table.items() for name in names.split()}


_DAYS, _MONTHS_BY_NAME = _rows(_WEEKDAYS), {name: n + 1 for name, n in _rows(_MONTHS).items()}
_UNITS, _ENDINGS = _by_name(_UNIT_NAMES), _by_name(_ENDS_OF)
_NUMBERS = {name: n + 1 for name, n in _rows(_NUMBER_WORDS).items()}
_UNTIL = frozenset(
    "until till til through thru bis jusqu'à jusqu'au jusqu'en jusqu'aux jusqu hasta até до вплоть по".split()
)
_TODAY = frozenset("today tonight heute aujourd'hui hoy hoje сегодня сегодняшнего".split())
_TOMORROW = frozenset("tomorrow morgen demain mañana amanhã завтра завтрашнего".split())
_END = frozenset("end ende fin final finales fim конца концу конец".split())
_NEXT = frozenset(
    """next coming nächste nächsten nächster nächstes kommende kommenden prochain prochaine prochains prochaines
    próximo próxima próximos próximas следующий следующая следующего следующей следующую следующие следующих
    ближайшие ближайших""".split()
)
_THIS = frozenset(
    """this current diese diesen dieses dieser cette ce cet esta este nesta neste essa esse
    этот эта этого этой эту этом текущего текущей""".split()
)
_ONLY = frozenset(
    """only just nur lediglich seulement uniquement juste solo sólo solamente únicamente só somente apenas
    только лишь исключительно""".split()
)
_FOR = frozenset("for für pour por para".split())
# Between a word for only and its time.
_WITHIN = _FOR | frozenset("in en em dans на в".split())
_SUBJECTS = frozenset("i you he she it we they who which that".split())
_WAS = frozenset(("was", "were"))
# Words before an until that its verb is looked for in.
_NEAR = 4
# What may stand between an until and its time, and inside of it.
_FILLING = frozenset(
    """the of on at in to up and including incl inclusive einschließlich zum zur zu dem den der des das am im le la les
    l'année du de des el los las del al a à au en o os as do da dos das ao до включительно""".split()
)
# What may stand between a day and its time of the clock.
_TO_CLOCK = frozenset("at um las às ao в до on in the of de del da do la por a à am den o".split())
# When a part of a day ends that is named without an hour.
_PARTS = {
    part: hour
    for hour, parts in (
        (12, "noon midday morning mittag mittags vormittag morgen früh morgens midi matin mediodía mediodia mañana"),
        (12, "meio-dia manhã полдень полудня утро утра утром"),
        (18, "afternoon nachmittag nachmittags après-midi tarde"),
    )
    for part in parts.split()
}
_HOUR_NAMES = frozenset("am pm a.m p.m uhr h heures horas hs hours часов часа".split())
_AFTERNOON, _MORNING, _NOON, _MIDNIGHT = frozenset(("pm", "p.m")), frozenset(("am", "a.m")), 12, 24
_CLOCK = re.compile(r"(\d{1,2})(?:[:.h](\d{2})|(h))?(am|pm)?")
_WORD = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}[t ]\d{2}:\d{2}|\d{1,2}:\d{2}(?:[ap]m)?"
    r"|\d{1,2}\.\d{1,2}\.(?:\d{4})?|[^\W_]+(?:[-./'][^\W_]+)*"
)
_ORDINAL = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er|º|ª)?")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})?")
_ISO = re.compile(r"(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2})(?:[t ](\d{2}):(\d{2}))?)?(?:t.*)?")
_YEARS, _MOST_COUNTED, _LAST_DAY = range(2000, 2200), 400, 31
_SPAN = {"h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
# An end in Unix milliseconds, and after how many words it is told.
Found = tuple[int, int]


def ends(text: str, said_at: int) -> int | None:
    """Return when a statement says that it ends, in Unix milliseconds; None where it names no such time to come."""
    try:
        found = _Statement(text, said_at).end() or ending_unspaced.end(text, Coming(said_at))
    except (OverflowError, ValueError, OSError):  # no day of the calendar
        return None
    return found if found and found > said_at else None


def moment(text: str, now: int) -> int | None:
    """Return the end that a person names: 2026-11-30, 2026-11-30T18:00, 7d, 2w, Friday, end of March; None for none."""
    said = text.strip()
    if said[-1:] in _SPAN and said[:-1].isascii() and said[:-1].isdigit() and len(said) < 6:  # noqa: PLR2004
        return now + int(said[:-1]) * _SPAN[said[-1]]
    if ":" in said:
        with suppress(ValueError, OverflowError, OSError):
            return int(datetime.fromisoformat(said).astimezone().timestamp() * 1000)
    words = _Statement(said, now)
    try:
        found = words.when(0)
        whole = found is not None and not [word for word in words.words[found[1] :] if word not in _FILLING]
        return found[0] if found and whole else ending_unspaced.whole(said, Coming(now))
    except (OverflowError, ValueError, OSError):
        return None


class _Statement:
    """The words of a statement, in lower case, '' beyond either end."""

    def __init__(self, text: str, now: int) -> None:
        self.words = _WORD.findall(text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
        self.days = Coming(now)

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
        """Read a time from word `at` on; a time of the clock stands behind its day or before it."""
        before = None if self[self._past(at, _TO_CLOCK)] in _TOMORROW else self._clock(at)
        found = self._time(before[2] if before else at)
        if not found:
            return None
        ends_at, then, whole_day = found
        told = before or (self._clock(then) if whole_day else None)
        if not (told and whole_day):
            return ends_at, then
        return clock(ends_at, *told[:2]), then if before else told[2]

    def _clock(self, at: int) -> tuple[int, int, int] | None:
        """Read noon, 6 pm, 18:00, 18 Uhr: the hour, the minute, and where what follows begins."""
        at = self._past(at, _TO_CLOCK)
        if self[at] in _PARTS:
            return _PARTS[self[at]], 0, at + 1
        found, unit = _CLOCK.fullmatch(self[at]), self[at + 1] if self[at + 1] in _HOUR_NAMES else ""
        dotted = "." in self[at] and unit != "uhr"
        if not found or dotted or not (found[2] or found[3] or found[4] or unit):
            return None
        hour, minute, half = int(found[1]), int(found[2] or 0), found[4] or unit
        if half in _AFTERNOON | _MORNING:
            hour = hour % _NOON + (_NOON if half in _AFTERNOON else 0)
        return (hour, minute, at + 1 + bool(unit)) if hour <= _MIDNIGHT else None

    def _time(self, at: int) -> tuple[int, int, bool] | None:
        """Read a time from word `at` on, and say whether it is a day that a clock may tell a part of."""
        at = self._past(at, _FILLING | _THIS if self._unit(at) is None else _FILLING)
        for rule in (self._named, self._date, self._end_of, self._unit, self._month, self._year):
            if found := rule(at):
                return *found, rule in (self._named, self._date)
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
        return (self.days.next_weekday(_DAYS[self[at]]), at + 1) if self[at] in _DAYS else None

    def _date(self, at: int) -> Found | None:
        """Read 2026-03-15, 15.3.2026, March 15th, 15 de marzo de 2026."""
        if iso := _ISO.fullmatch(self[at]):
            year, month, day, hour, minute = (int(part or 0) for part in iso.groups())
            if not day:
                return self.days.whole_month(year, month), at + 1
            ends_at = self.days.day(year, month, day)
            return clock(ends_at, hour, minute) if iso[4] else ends_at, at + 1
        if dotted := _DOTTED.fullmatch(self[at]):
            day, month, year = (int(part or 0) for part in dotted.groups())
            return self.days.day(year, month, day), at + 1
        then = self._past(at + 1, _FILLING)
        for day_at, month_at in ((at, then), (at + 1, at)):
            day, month = self._number(day_at), _MONTHS_BY_NAME.get(self[month_at], 0)
            if day and month:
                year_at = self._past(max(day_at, month_at) + 1, _FILLING)
                year = self._year_at(year_at)
                return self.days.day(year, month, day), (year_at if year else max(day_at, month_at)) + 1
        return None

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
            return self.days.whole_month(year, _MONTHS_BY_NAME[self[at]]), after
        if re.fullmatch("q[1-4]", self[at]):
            return self.days.whole_month(year, 3 * int(self[at][1])), after
        return None

    def _year(self, at: int) -> Found | None:
        year = self._year_at(at)
        return (self.days.whole_year(year), at + 1) if year else None

    def _year_at(self, at: int) -> int:
        year = int(self[at]) if re.fullmatch(r"\d{4}", self[at]) else 0
        return year if year in _YEARS else 0

    def _number(self, at: int) -> int:
        found = _ORDINAL.fullmatch(self[at])
        return int(found[1]) if found and 0 < int(found[1]) <= _LAST_DAY else 0

    def _only(self, at: int) -> Found | None:
        """Read only this week, this week only, just for today, for this month."""
        if self[at] in _ONLY | _FOR:
            then = at + 1 + (self[at + 1] in _WITHIN)
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
