"""The time a question speaks of: last week, in March, since 2026-05, two days ago. Safe on the hot path.

Words like yesterday are read by the clock, so what they find depends on the day
they are asked; a date with its year means the same on every day.
"""

from memman.model.terms import STOPWORDS, stem, stems, terms
from memman.recall.days import UNITS, Days
from memman.recall.query import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.recall.days import Bounds

    # The time found, and how many words said so.
    Found = tuple[Bounds, int]

# The end of what has no end, in Unix milliseconds.
FOREVER = 2**53

_MONTHS = {
    name: n % 12 + 1
    for n, name in enumerate(
        """january february march april may june july august september october november december
        jan feb mar apr may jun jul aug sep oct nov dec""".split()
    )
}
_MONTHS["sept"] = _MONTHS["sep"]
_WEEKDAYS = {name: n for n, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())}
_QUARTERS = {"q1": 1, "q2": 2, "q3": 3, "q4": 4}
_NUMBERS = {name: n for n, name in enumerate("zero one two three four five six seven eight nine ten".split())}
_NUMBERS |= {"a": 1, "an": 1, "couple": 2, "few": 3, "several": 5}
_NAMED = {"today": 0, "tonight": 0, "yesterday": 1}
_BACK = {"this": 0, "last": 1, "previous": 1, "past": 1}
_PARTS_OF_DAY = {"morning": 0, "afternoon": 0, "evening": 0, "night": 1}
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

_OPEN_END, _OPEN_START = frozenset(("since", "after")), frozenset(("before", "until", "till", "by"))
_PLACING = frozenset("in on during from of at around the over within between throughout early late mid".split())
# A preposition whose date may belong to something named before it: before the release on 3 May.
_DATING = frozenset(("on", "in", "of", "from"))
_REACH = 4
_JOINING = frozenset(("and", "to", "until", "till", "through", "-", "\u2013"))
_REPEATED = frozenset(("every", "each", "next"))
_ENDS = (".", "?", "!", ":")
_ORDINALS = ("st", "nd", "rd", "th")
_YEARS, _LAST_MONTH, _LAST_DAY, _MOST = range(1990, 2100), 12, 31, 1_000
_MONTH_CHARS = len("2026-05")

# What a question says of any time: with nothing else in it, it is the time that is asked for.
_ANYTHING = stems(
    """decide decided decision decisions happen happened happening change changed changes new news work worked working
    done make made learn learned learnt say said talk talked discuss discussed agree agreed update updates updated note
    notes noted memory memories remember remembered record recorded find found fix fixed add added go went going on up
    thing things everything stuff progress summary summarize list show topic topics since"""
)


class Span:
    """A time that was asked about, in Unix milliseconds, `end` out; `rest` is the question without it.

    Such a time is `alone` where no other word says what the question is about.
    """

    __slots__ = ("alone", "end", "rest", "start")

    def __init__(self, start: int, end: int, rest: str) -> None:
        self.start, self.end, self.rest = start, end, rest
        self.alone = all(term in STOPWORDS or stems(term) <= _ANYTHING for term in terms(rest))

    def holds(self, moment: int) -> bool:
        """Whether `moment` lies within."""
        return self.start <= moment < self.end


def resolve(query: str, now: int) -> Span | None:
    """Return the first time that `query` names, as seen from `now` (Unix milliseconds); None where it names none."""
    question = _Question(query.split(), Days(now))
    try:
        return question.span()
    except (OverflowError, ValueError):  # beyond what the system's calendar reaches
        return None


class _Question:
    """The words of a question, in lower case and out of their punctuation, '' beyond either end."""

    def __init__(self, spoken: list[str], days: Days) -> None:
        self.spoken, self.days = spoken, days
        self.words = plain(" ".join(spoken))

    def __getitem__(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

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

    def _spanned(self, at: int, found: "Found") -> Span:
        """Join a second time to the first or open it at one side, and leave out the words that say it."""
        (start, end), length = found
        first, after = at, at + length
        while self[first - 1] in _PLACING or self[first - 1] in _BACK:
            first -= 1
        if self[after] in _JOINING and {"between", "from"} & set(self.words[first:at]):
            other = self.at(after + 1) or self.whole_year(after + 1)
            if other:
                end, after = max(end, other[0][1]), after + 1 + other[1]
        relation = self._relation(first, at)
        if relation in _OPEN_END:
            start, end = (start if relation == "since" else end), FOREVER
        elif relation:
            start, end = 0, (start if relation == "before" else end)
        first -= bool(relation) and self[first - 1] == relation
        return Span(start, end, " ".join((*self.spoken[:first], *self.spoken[after:])))

    def _relation(self, first: int, at: int) -> str:
        """Return the since or before that a time stands after, directly or behind what it dates."""
        reach = _REACH if self[at - 1] in _DATING else 0
        near = (self[n] for n in range(first - 1, first - 2 - reach, -1))
        return next((word for word in near if word in _OPEN_END or word in _OPEN_START), "")

    def month(self, at: int) -> int:
        """Return the month that word `at` surely names, or 0."""
        month = _MONTHS.get(self[at], 0)
        return month if month and (self[at] not in _AMBIGUOUS or self._surely_month(at)) else 0

    def _surely_month(self, at: int) -> bool:
        """Whether what is around the name of a month leaves no other reading: in May, May 3rd, the March release."""
        if self.year(at + 1)[0] or _ordinal(self[at + 1]):
            return True
        if self[at + 1] == "of":  # the march of time
            return False
        word, before = self[at], self[at - 1]
        named = word.title()[:2] in self.spoken[at]
        first = at == 0 or self.spoken[at - 1].endswith(_ENDS)
        dated = bool(_day_number(before) or _day_number(self[at + 1]))
        if word in _VERBS and (first or not named):
            return before in _BEFORE_MONTHS
        return before in _BEFORE_MONTHS or dated or (named and (before == "the" or word not in _PEOPLE))

    def year(self, at: int) -> tuple[int, int]:
        """Return the year that is named at word `at`, directly or after an of, and how many words name it, or zeros."""
        words = 1 + (self[at] == "of")
        year = _whole(self[at + words - 1])
        return (year, words) if year in _YEARS else (0, 0)

    def whole_year(self, at: int) -> "Found | None":
        """Read word `at` as a year that stands for itself, neither far ahead nor a number of something."""
        year = _whole(self[at])
        if year not in _YEARS or year > self.days.today.tm_year + 1 or stem(self[at + 1]) in _MEASURES:
            return None
        return (self.days.month(year, 1)[0], self.days.month(year, 12)[1]), 1

    def counted(self, at: int) -> tuple[int, str, int]:
        """Read a number of units, and after how many words it ends: 3 days, a couple of weeks. Zero for none."""
        end = at + (self[at] in {"a", "the"} and _number(self[at + 1]) > 0)
        number = _number(self[end])
        end += 1 + (self[end + 1] == "of")
        unit = self[end].removesuffix("s")
        return (number, unit, end + 1 - at) if unit in UNITS else (0, "", 0)


def _whole(word: str) -> int:
    return min(int(word), 10_000) if word.isascii() and word.isdigit() and len(word) < 5 else 0  # noqa: PLR2004


def _number(word: str) -> int:
    return min(_whole(word), _MOST) or _NUMBERS.get(word, 0)


def _ordinal(word: str) -> bool:
    return word.endswith(_ORDINALS) and _day_number(word) > 0


def _day_number(word: str) -> int:
    """Return the day of a month that a word is, or 0: 3, 3rd."""
    day = _whole(word[:-2] if word.endswith(_ORDINALS) else word)
    return day if day <= _LAST_DAY else 0


def _named(said: _Question, at: int) -> "Found | None":
    """Read today, yesterday, the day before yesterday."""
    if said.words[at : at + 3] == ["day", "before", "yesterday"]:
        return said.days.unit("day", 2), 3
    return (said.days.unit("day", _NAMED[said[at]]), 1) if said[at] in _NAMED else None


def _ago(said: _Question, at: int) -> "Found | None":
    """Read two weeks ago."""
    number, unit, length = said.counted(at)
    return (said.days.unit(unit, number), length + 1) if number and said[at + length] == "ago" else None


def _back(said: _Question, at: int) -> "Found | None":
    """Read last week, this month, the past three days, last night."""
    back = _BACK.get(said[at], -1)
    if back < 0:
        return None
    number, unit, length = said.counted(at + 1)
    if number and back:
        return said.days.past(unit, number), length + 1
    following = said[at + 1]
    if following in _PARTS_OF_DAY:
        return said.days.unit("day", back and max(back, _PARTS_OF_DAY[following])), 2
    if following in {"hour", "weekend"}:
        return said.days.past("hour", 1) if following == "hour" else said.days.weekend(back), 2
    return (said.days.unit(following, back), 2) if following in UNITS else None


def _weekend(said: _Question, at: int) -> "Found | None":
    return (said.days.weekend(1), 1) if said[at] == "weekend" else None


def _date(said: _Question, at: int) -> "Found | None":
    """Read 2026-05-03 and 2026-05, with a time of day or without."""
    numbers = [_whole(part) for part in said[at].partition("t")[0].replace("/", "-").split("-")]
    if len(numbers) not in {2, 3} or numbers[0] not in _YEARS or not 0 < numbers[1] <= _LAST_MONTH:
        return None
    year, month = numbers[:2]
    if len(numbers) == 2:  # noqa: PLR2004 - of a year and a month, but 2024-1 is a version
        return (said.days.month(year, month), 1) if len(said[at]) == _MONTH_CHARS else None
    return (said.days.date(year, month, numbers[2]), 1) if 0 < numbers[2] <= _LAST_DAY else None


def _quarter(said: _Question, at: int) -> "Found | None":
    """Read Q3, Q3 2025."""
    if said[at] not in _QUARTERS:
        return None
    year, words = said.year(at + 1)
    return said.days.quarter(year or None, _QUARTERS[said[at]]), 1 + words


def _day_of_month(said: _Question, at: int) -> "Found | None":
    """Read 3 May, the 3rd of May 2026, May 3."""
    day, month, length = _day_number(said[at]), said.month(at + 1), 2
    if day and said[at + 1] == "of":
        month, length = said.month(at + 2), 3
    if not (day and month):
        month, day, length = said.month(at), _day_number(said[at + 1]), 2
    if not (day and month):
        return None
    year, words = said.year(at + length)
    return said.days.date(year or None, month, day), length + words


def _month(said: _Question, at: int) -> "Found | None":
    """Read March, March 2026."""
    month = said.month(at)
    if not month:
        return None
    year, words = said.year(at + 1)
    return said.days.month(year or None, month), 1 + words


def _weekday(said: _Question, at: int) -> "Found | None":
    """Read Monday, last Monday."""
    return (said.days.weekday(_WEEKDAYS[said[at]]), 1) if said[at] in _WEEKDAYS else None


def _year(said: _Question, at: int) -> "Found | None":
    """Read in 2025: a year after a word that places in time."""
    return said.whole_year(at) if said[at - 1] in _BEFORE_YEARS else None


_RULES = (_named, _ago, _back, _weekend, _date, _quarter, _day_of_month, _month, _weekday, _year)
