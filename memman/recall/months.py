"""Months, quarters, years and days that a question names by their names or numbers. Safe on the hot path."""

from memman.model.terms import lowered, stem, stems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memman.model.days import Bounds, Days

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
