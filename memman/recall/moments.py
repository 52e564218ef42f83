"""The time a question speaks of: last week, in March, since 2026-05, two days ago. Safe on the hot path."""

from memman.model.days import UNITS, Days
from memman.model.terms import STOPWORDS, lowered, stem, stems, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.model.days import Bounds

    # The time found, how many words said so, and whether the clock or a year told it, so that it is no mere name.
    Found = tuple[Bounds, int, bool]

MONTHS = {
    name: n % 12 + 1
    for n, name in enumerate(
        """january february march april may june july august september october november december
        jan feb mar apr may jun jul aug sep oct nov dec""".split()
    )
}
MONTHS["sept"] = MONTHS["sep"]
QUARTERS = {"q1": 1, "q2": 2, "q3": 3, "q4": 4}
# Between the two ends of a time, and between two times.
RANGING = frozenset(("to", "until", "till", "through", "-", "\u2013"))
PAIRING = frozenset(("and", "or", "with", "vs", "versus", "against", "&"))
_JOINING = RANGING | PAIRING
# Months whose names mean other things, or begin a question as verbs, or are people's.
_AMBIGUOUS = frozenset("april dec jan june mar march may sep".split())
_VERBS, _PEOPLE = frozenset(("may", "march")), frozenset(("april", "jan", "june", "may"))
# After these words such a name is a month, and a number of four digits may be a year.
_BEFORE_MONTHS = frozenset(
    "in during of from since after before until till by between throughout early late mid last".split()
)
_BEFORE_YEARS = _BEFORE_MONTHS - {"last"}
# What is counted or measured is no year.
_MEASURES = stems(
    """bit byte kb mb gb tb kib mib gib ms msec millisecond s sec second minute min hour day week month year hz khz
    mhz ghz line row column cell file folder word token character char letter symbol item element entry record
    document page request response query call message event job task test commit user customer client connection
    session thread worker process node server core step iteration epoch sample dimension dim vector embedding memory
    note fact point pixel px degree percent dollar euro usd eur meter metre km mile people person time retry attempt
    rpm rps qps"""
)
_ENDS = (".", "?", "!", ":")
_ORDINALS = ("st", "nd", "rd", "th")
_YEARS, _LAST_MONTH, _LAST_DAY = range(1990, 2100), 12, 31
_MONTH_CHARS = len("2026-05")


class Dated:
    """The words of a question, in lower case and out of their punctuation, '' beyond either end."""

    def __init__(self, spoken: list[str], days: "Days") -> None:
        self.spoken, self.days = spoken, days
        self.words = lowered(" ".join(spoken))

    def __getitem__(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

    def month(self, at: int) -> int:
        """Return the month that word `at` surely names, or 0; of two that are joined one is enough to tell both."""
        joined = [at + 2] * (self[at + 1] in _JOINING) + [at - 2] * (self[at - 1] in _JOINING)
        sure = self[at] in MONTHS and any(self._surely_month(n) for n in (at, *joined))
        return MONTHS[self[at]] if sure else 0

    def _surely_month(self, at: int) -> bool:
        """Whether what is around the name of a month leaves no other reading: in May, May 3rd, the March release."""
        word, before = self[at], self[at - 1]
        if word not in _AMBIGUOUS:
            return word in MONTHS
        if self.year(at + 1)[0] or _ordinal(self[at + 1]):
            return True
        if self[at + 1] == "of":  # the march of time
            return False
        named = word.title()[:2] in self.spoken[at]
        first = at == 0 or self.spoken[at - 1].endswith(_ENDS)
        dated = bool(_day_number(before) or _day_number(self[at + 1]))
        if word in _VERBS and (first or not named):
            return before in _BEFORE_MONTHS
        return before in _BEFORE_MONTHS or dated or (named and (before == "the" or word not in _PEOPLE))

    def year(self, at: int) -> tuple[int, int]:
        """Return the year that is named at word `at`, directly or after an of, and how many words name it, or zeros."""
        words = 1 + (self[at] == "of")
        year = whole(self[at + words - 1])
        return (year, words) if year in _YEARS else (0, 0)

    def whole_year(self, at: int) -> "Found | None":
        """Read word `at` as a year that stands for itself, neither far ahead nor a number of something."""
        year = whole(self[at])
        if year not in _YEARS or year > self.days.today.tm_year + 1 or stem(self[at + 1]) in _MEASURES:
            return None
        return (self.days.month(year, 1)[0], self.days.month(year, 12)[1]), 1, True


def whole(word: str) -> int:
    """Return the number of up to four digits that a word is, or 0."""
    return min(int(word), 10_000) if word.isascii() and word.isdigit() and len(word) < 5 else 0  # noqa: PLR2004


def _ordinal(word: str) -> bool:
    return word.endswith(_ORDINALS) and _day_number(word) > 0


def _day_number(word: str) -> int:
    """Return the day of a month that a word is, or 0: 3, 3rd."""
    day = whole(word[:-2] if word.endswith(_ORDINALS) else word)
    return day if day <= _LAST_DAY else 0


def _date(said: Dated, at: int) -> "Found | None":
    """Read 2026-05-03 and 2026-05, with a time of day or without."""
    numbers = [whole(part) for part in said[at].partition("t")[0].replace("/", "-").split("-")]
    if len(numbers) not in {2, 3} or numbers[0] not in _YEARS or not 0 < numbers[1] <= _LAST_MONTH:
        return None
    year, month = numbers[:2]
    if len(numbers) == 2:  # noqa: PLR2004 - of a year and a month, but 2024-1 is a version
        return (said.days.month(year, month), 1, True) if len(said[at]) == _MONTH_CHARS else None
    return (said.days.date(year, month, numbers[2]), 1, True) if 0 < numbers[2] <= _LAST_DAY else None


def _quarter(said: Dated, at: int) -> "Found | None":
    """Read Q3, Q3 2025."""
    if said[at] not in QUARTERS:
        return None
    year, words = said.year(at + 1)
    return said.days.quarter(year or None, QUARTERS[said[at]]), 1 + words, year > 0


def _day_of_month(said: Dated, at: int) -> "Found | None":
    """Read 3 May, the 3rd of May 2026, May 3."""
    day, month, length = _day_number(said[at]), said.month(at + 1), 2
    if day and said[at + 1] == "of":
        month, length = said.month(at + 2), 3
    if not (day and month):
        month, day, length = said.month(at), _day_number(said[at + 1]), 2
    if not (day and month):
        return None
    year, words = said.year(at + length)
    return said.days.date(year or None, month, day), length + words, year > 0


def _month(said: Dated, at: int) -> "Found | None":
    """Read March, March 2026, and the March of March and May 2026."""
    month = said.month(at)
    if not month:
        return None
    year, words = said.year(at + 1)
    if said[at + 1] in _JOINING and said.month(at + 2):
        year = said.year(at + 3)[0]
    return said.days.month(year or None, month), 1 + words, year > 0


def _year(said: Dated, at: int) -> "Found | None":
    """Read in 2025: a year after a word that places in time."""
    return said.whole_year(at) if said[at - 1] in _BEFORE_YEARS else None


DAY_RULES = (_date, _day_of_month)
RULES = (_date, _quarter, _day_of_month, _month, _year)


# The end of what has no end, in Unix milliseconds.
FOREVER = 2**53

_WEEKDAYS = {name: n for n, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
_NUMBERS = {name: n for n, name in enumerate("zero one two three four five six seven eight nine ten".split())}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 5}
_HALVES = {"year": (6, "month"), "month": (2, "week"), "day": (12, "hour"), "hour": (1, "hour")}
_NAMED = {"today": 0, "tonight": 0, "yesterday": 1}
_BACK = {"this": 0, "last": 1, "previous": 1, "past": 1}
_PARTS_OF_DAY = {"morning": 0, "afternoon": 0, "evening": 0, "night": 1}

_OPEN_END, _OPEN_START = frozenset(("since", "after")), frozenset(("before", "until", "till", "by"))
# What may stand between these and their time, and what else places in it.
_LEADING = frozenset(("the", "around", "early", "late", "mid", *_BACK))
_PLACING = _LEADING | frozenset("in on during from of at over within between throughout".split())
_PORTIONS = frozenset(("beginning", "start", "middle", "end"))
_REPEATED = frozenset(("every", "each", "next"))
_EXCLUDING = frozenset(("not", "except", "excepting", "excluding", "without", "besides"))
_REACH = 3
_STOPS = (".", ",", ";", ":", "?", "!")
_COMPARING = frozenset("compare compared comparing comparison versus vs difference differences differ".split())
_MOST = 1_000
_TWO_DAYS_MS = 2 * 86_400_000

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
    """Return the first time that `query` names, as seen from `now` (Unix milliseconds); None where it names none."""
    question = _Question(query.split(), Days(now))
    try:
        return question.span()
    except (OverflowError, ValueError):  # no day of the calendar, or beyond what the system's reaches
        return None


class _Question(Dated):
    """The words of a question, and the times they name."""

    def span(self) -> Span | None:
        """Read the first time that is named, and what is asked about it."""
        for at in range(len(self.words)):
            found = self.at(at)
            if found:
                return self._spanned(at, found)
        return None

    def at(self, at: int) -> "Found | None":
        """Read a time that begins with word `at`."""
        if self[at - 1] in _REPEATED:
            return None
        return next((found for rule in _RULES if (found := rule(self, at))), None)

    def _spanned(self, at: int, found: "Found") -> Span | None:
        """Join a second time to the first or open it at one side, and leave out the words that say it."""
        first = self._past(at, _LEADING)
        relation = self[first - 1] if self[first - 1] in _OPEN_END | _OPEN_START else ""
        first = first - 1 if relation else self._past(first, _PLACING)
        joined = self._joined(first, at, found)
        if self._excluded(first) or not joined:
            return None
        (start, end), length, sure = joined
        if relation in _OPEN_END:
            start, end = (start if relation == "since" else end), FOREVER
        elif relation:
            start, end = 0, (start if relation == "before" else end)
        return Span(start, end, " ".join((*self.spoken[:first], *self.spoken[at + length :])), sure=sure)

    def _past(self, first: int, words: frozenset[str]) -> int:
        """Return where the words that lead to word `first` begin: the, the end of."""
        while (portion := self[first - 1] == "of" and self[first - 2] in _PORTIONS) or self[first - 1] in words:
            first -= 1 + portion
        return first

    def _excluded(self, first: int) -> bool:
        """Whether the time before which `first` stands is what is not asked for: except last week."""
        for n in range(first - 1, max(first - 1 - _REACH, -1), -1):
            if self.spoken[n].endswith(_STOPS):
                return False
            if self[n] in _EXCLUDING:
                return True
        return False

    def _joined(self, first: int, at: int, found: "Found") -> "Found | None":
        """Join the time that follows an and or a to; None where there are two that are no one time."""
        (start, end), length, sure = found
        joint, then = self[at + length], at + length + 1
        if joint in RANGING | PAIRING:
            while self[then] in _PLACING and not self.at(then):
                then += 1
            other = self.at(then) or (self.whole_year(then) if self._ranging(first, at) else None)
            if other:
                (begins, ends), words, told = other
                whole_of = joint in RANGING or self._ranging(first, at) or begins == end
                return ((start, ends), then + words - at, sure or told) if begins >= start and whole_of else None
        compared = not _COMPARING.isdisjoint(self.words)
        return None if compared and any(map(self.at, range(at + length, len(self.words)))) else found

    def _ranging(self, first: int, at: int) -> bool:
        return not {"between", "from"}.isdisjoint(self.words[first:at])

    def counted(self, at: int) -> tuple[int, str, int]:
        """Read a number of units, and after how many words it ends: 3 days, half a year. Zero for none."""
        if self[at] == "half":
            length = 2 + (self[at + 1] in {"a", "an"})
            return *_HALVES.get(self[at + length - 1], (0, "")), length
        end = at + (self[at] in {"a", "the"} and _number(self[at + 1]) > 0)
        number = _number(self[end]) if self[at - 1] != "half" else 0
        end += 1 + (self[end + 1] == "of")
        unit = self[end].removesuffix("s")
        return (number, unit, end + 1 - at) if unit in UNITS else (0, "", 0)


def _number(word: str) -> int:
    return min(whole(word), _MOST) or _NUMBERS.get(word, 0)


def _named(said: _Question, at: int) -> "Found | None":
    """Read today, yesterday, the day before yesterday."""
    if said.words[at : at + 3] == ["day", "before", "yesterday"]:
        return said.days.unit("day", 2), 3, True
    return (said.days.unit("day", _NAMED[said[at]]), 1, True) if said[at] in _NAMED else None


def _ago(said: _Question, at: int) -> "Found | None":
    """Read two weeks ago."""
    number, unit, length = said.counted(at)
    return (said.days.unit(unit, number), length + 1, True) if number and said[at + length] == "ago" else None


def _last_of(said: _Question, at: int) -> "Found | None":
    """Read the last quarter of 2025, the last week of March."""
    if said[at] != "last" or said[at + 1] not in UNITS - {"hour"} or said[at + 2] != "of":
        return None
    found = said.at(at + 3)
    return (said.days.final(said[at + 1], found[0][1]), 3 + found[1], found[2]) if found else None


def _back(said: _Question, at: int) -> "Found | None":
    """Read last week, this month, the past three days, last night."""
    back = _BACK.get(said[at], -1)
    if back < 0:
        return None
    number, unit, length = said.counted(at + 1)
    if number and back:
        return said.days.past(unit, number), length + 1, True
    following = said[at + 1]
    if following in _PARTS_OF_DAY:
        return said.days.unit("day", back and max(back, _PARTS_OF_DAY[following])), 2, True
    if following == "weekend":
        return said.days.weekend(back), 2, False
    if following == "hour":
        return said.days.past("hour", 1), 2, True
    return (said.days.unit(following, back), 2, True) if following in UNITS else None


def _weekend(said: _Question, at: int) -> "Found | None":
    return (said.days.weekend(1), 1, False) if said[at] == "weekend" else None


def _week_of(said: _Question, at: int) -> "Found | None":
    """Read the week of 3 May."""
    if said[at] != "week" or said[at + 1] != "of":
        return None
    then = at + 2 + (said[at + 2] == "the")
    found = next((found for rule in DAY_RULES if (found := rule(said, then))), None)
    if found is None or found[0][1] - found[0][0] > _TWO_DAYS_MS:
        return None
    return said.days.week(found[0][0]), then + found[1] - at, found[2]


def _weekday(said: _Question, at: int) -> "Found | None":
    """Read Monday, last Monday."""
    return (said.days.weekday(_WEEKDAYS[said[at]]), 1, False) if said[at] in _WEEKDAYS else None


_RULES = (_named, _ago, _last_of, _back, _weekend, _week_of, _weekday, *RULES)
