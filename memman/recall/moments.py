"""The time a question speaks of: last week, in March, since 2026-05, two days ago. Safe on the hot path."""

from memman.model.days import UNITS, Days
from memman.model.terms import STOPWORDS, lowered, stems, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.model.days import Bounds

    # The time found, how many words said so, and whether the clock or a year told it, so that it is no mere name.
    Found = tuple[Bounds, int, bool] | None

# The end of what has no end, in Unix milliseconds.
FOREVER = 2**53
_NAMES = """january february march april may june july august september october november december
    jan feb mar apr may jun jul aug sep oct nov dec""".split()
MONTHS = {name: n % 12 + 1 for n, name in enumerate(_NAMES)} | {"sept": 9}
WEEKDAYS = {name: n for n, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
NAMED = {"today": 0, "tonight": 0, "yesterday": 1}
BACK = {"this": 0, "last": 1, "previous": 1, "past": 1}
_NUMBERS = {name: n for n, name in enumerate("zero one two three four five six seven eight nine ten".split())}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 5}
_YEARS, _LAST_MONTH, _LAST_DAY = range(1990, 2100), 12, 31
# Months whose names mean other things too, and those of them that mostly do.
_OTHERWISE, _MOSTLY = frozenset("april dec jan june mar march may sep".split()), ("march", "may")
_ORDINALS = ("st", "nd", "rd", "th")
# After these words such a name is a month, and a number of four digits may be a year; these join two times.
_BEFORE = frozenset("in during of from since after before until till by between early late mid".split())
_JOINING = ("and", "to")
_OPEN_END, _OPEN_START = frozenset(("since", "after")), frozenset(("before", "until", "till", "by"))
# What may stand between these and their time, and what else leads to one.
_LEADING = frozenset(("the", "around", "early", "late", "mid", *BACK))
_PLACING = _LEADING | frozenset(("in", "on", "during", "from", "of", "at", "over", "within", "between", *_JOINING))
# After these words it is another time.
_OTHER = frozenset(("every", "each", "next", "half"))
_EXCLUDING = frozenset(("not", "except", "excluding", "without"))

# What a question says of any time: with nothing else in it, it is the time that is asked for.
_ANYTHING = stems(
    """decide decided decision decisions happen happened happening change changed changes new news work worked working
    done make made learn learned learnt say said talk talked discuss discussed agree agreed update updates updated note
    notes noted memory memories remember remembered record recorded find found fix fixed add added go went going on up
    thing things everything stuff progress summary summarize list show topic topics since"""
)


class Span:
    """A time that was asked about, `end` out; `alone` if nothing else was, `sure` if the clock or a year told it."""

    __slots__ = ("alone", "end", "rest", "start", "sure")

    def __init__(self, start: int, end: int, rest: str, *, sure: bool = True) -> None:
        self.start, self.end, self.rest, self.sure = start, end, rest, sure
        self.alone = all(term in STOPWORDS or stems(term) <= _ANYTHING for term in terms(rest))

    def holds(self, moment: int) -> bool:
        """Whether `moment` lies within."""
        return self.start <= moment < self.end


def resolve(query: str, now: int) -> Span | None:
    """Return the time that `query` names, as seen from `now` (Unix milliseconds); None where it names none.

    Of several it is from the first to the last, where they come in order.
    """
    spoken = query.split()
    # What is looked for beyond either end is not there.
    words = [*lowered(query), *[""] * 4]
    if not _EXCLUDING.isdisjoint(words):
        return None
    try:
        return _span(spoken, words, Days(now))
    except (OverflowError, ValueError):  # no day of the calendar, or beyond what the system's reaches
        return None


def _span(spoken: list[str], words: list[str], days: Days) -> Span | None:
    """Join the times that are named, each open at one side where a word says so, and leave out the words for them."""
    times: list[tuple[int, int]] = []
    rest: list[int] = []
    at, sure = 0, False
    while at < len(spoken):
        found = None if words[at - 1] in _OTHER else _found(words, at, days)
        if found is None:
            rest.append(at)
            at += 1
            continue
        (start, end), length, told = found
        relation = _led(rest, words)
        if relation in _OPEN_END:
            start, end = (start if relation == "since" else end), FOREVER
        elif relation:
            start, end = 0, (start if relation == "before" else end)
        times.append((start, end))
        at, sure = at + length, sure or told
    if not times or times != sorted(times):
        return None
    return Span(times[0][0], times[-1][1], " ".join([spoken[n] for n in rest]), sure=sure)


def _led(rest: list[int], words: list[str]) -> str:
    """Take off the words that lead to a time; return since, before and the like, '' for none."""
    while rest and words[rest[-1]] in _LEADING:
        rest.pop()
    if rest and words[rest[-1]] in _OPEN_END | _OPEN_START:
        return words[rest.pop()]
    while rest and words[rest[-1]] in _PLACING:
        rest.pop()
    return ""


def _found(words: list[str], at: int, days: Days) -> "Found":
    """Read a time that begins with word `at`."""
    for rule in (_date, _day_of_month, _month, _year, _named, _ago, _back):
        if found := rule(words, at, days):
            return found
    return None


def _date(words: list[str], at: int, days: Days) -> "Found":
    """Read 2026-05-03 and 2026-05, with a time of day or without."""
    parts = words[at].partition("t")[0].split("-")
    digits = all(part.isascii() and part.isdigit() for part in parts)
    if not digits or [len(part) for part in parts] not in ([4, 2], [4, 2, 2]):
        return None
    year, month, *rest = map(int, parts)
    if year not in _YEARS or not 0 < month <= _LAST_MONTH or (rest and not 0 < rest[0] <= _LAST_DAY):
        return None
    return (days.date(year, month, rest[0]) if rest else days.month(year, month)), 1, True


def _day_of_month(words: list[str], at: int, days: Days) -> "Found":
    """Read 3 May, the 3rd of May 2026, May 3."""
    day, month, length = _day(words[at]), _month_at(words, at + 1), 2
    if day and words[at + 1] == "of":
        month, length = _month_at(words, at + 2), 3
    if not (day and month):
        month, day, length = _month_at(words, at), _day(words[at + 1]), 2
    if not (day and month):
        return None
    year, more = _year_at(words, at + length)
    return days.date(year or None, month, day), length + more, year > 0


def _month(words: list[str], at: int, days: Days) -> "Found":
    """Read March, March 2026."""
    month = _month_at(words, at)
    year, more = _year_at(words, at + 1)
    return (days.month(year or None, month), 1 + more, year > 0) if month else None


def _month_at(words: list[str], at: int) -> int:
    """Return the month that word `at` surely names, or 0."""
    word, before, after = words[at], words[at - 1], words[at + 1]
    joined = (after in _JOINING and words[at + 2]) or (before in _JOINING and words[at - 2])
    placed = before in _BEFORE or joined in MONTHS or _day(before) or _year_at(words, at + 1)[0]
    if word in _OTHERWISE and not placed:
        named = _day(after) and (word not in _MOSTLY or after.endswith(_ORDINALS))
        return MONTHS[word] if named else 0
    return MONTHS.get(word, 0)


def _day(word: str) -> int:
    """Return the day of a month that a word is, or 0: 3, 3rd."""
    number = _whole(word[:-2] if word.endswith(_ORDINALS) else word)
    return number if number <= _LAST_DAY else 0


def _year_at(words: list[str], at: int) -> tuple[int, int]:
    """Return the year that is named at word `at`, directly or after an of, and how many words name it, or zeros."""
    length = 1 + (words[at] == "of")
    year = _whole(words[at + length - 1])
    return (year, length) if year in _YEARS else (0, 0)


def _year(words: list[str], at: int, days: Days) -> "Found":
    """Read in 2025, neither far ahead nor a number of something: after a word that places in time, before no noun."""
    year, after = _whole(words[at]), words[at + 1]
    placed = words[at - 1] in _BEFORE | {"and"} and (not after or after in STOPWORDS)
    if not placed or year not in _YEARS or year > days.today.tm_year + 1:
        return None
    return (days.month(year, 1)[0], days.month(year, 12)[1]), 1, True


def _named(words: list[str], at: int, days: Days) -> "Found":
    """Read today, yesterday, the day before yesterday, Monday."""
    word = words[at]
    if words[at : at + 3] == ["day", "before", "yesterday"]:
        return days.unit("day", 2), 3, True
    if word in NAMED:
        return days.unit("day", NAMED[word]), 1, True
    return (days.weekday(WEEKDAYS[word]), 1, False) if word in WEEKDAYS else None


def _ago(words: list[str], at: int, days: Days) -> "Found":
    """Read two weeks ago."""
    number, unit, length = _counted(words, at)
    return (days.unit(unit, number), length + 1, True) if number and words[at + length] == "ago" else None


def _back(words: list[str], at: int, days: Days) -> "Found":
    """Read last week, this month, the past three days."""
    back, unit = BACK.get(words[at], -1), words[at + 1]
    number, units, length = _counted(words, at + 1)
    if number and back > 0:
        return days.past(units, number), length + 1, True
    if back < 0 or unit not in UNITS:
        return None
    return (days.past("hour", 1) if unit == "hour" else days.unit(unit, back)), 2, True


def _counted(words: list[str], at: int) -> tuple[int, str, int]:
    """Read a number of units, and after how many words it ends: 3 days, a couple of weeks. Zero for none."""
    end = at + (words[at] in ("a", "the") and _number(words[at + 1]) > 0)
    number = _number(words[end])
    end += 1 + (words[end + 1] == "of")
    unit = words[end].removesuffix("s")
    return (number, unit, end + 1 - at) if unit in UNITS else (0, "", 0)


def _number(word: str) -> int:
    return min(_whole(word), 1_000) or _NUMBERS.get(word, 0)


def _whole(word: str) -> int:
    """Return the number of up to four digits that a word is, or 0."""
    return int(word) if word.isascii() and word.isdigit() and len(word) < 5 else 0  # noqa: PLR2004
