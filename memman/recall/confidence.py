"""How sure recall is that a hit is what was asked for, from 0 to 1. Safe on the hot path.

Three things that a person can check speak for a hit, each the more the surer:

- share: the part of the query's words that the memory holds, or comes near in meaning, word by word and together;
- height: deviations of its cosine above the best that a store of this size gives for nothing in particular;
- apt: a question for a number meets a number, one for a person a name.

The numbers are fitted to labelled questions, for one table: see docs/adr/0014.
"""

from memman.embed.static import query_planes
from memman.model.terms import STOPWORDS, folded, stem, stems, terms, words
from memman.model.vocabulary import BUILTIN, ENOUGH, spread_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from memman.embed.static import StaticTable
    from memman.recall.hit import Read
    from memman.store.sqlite.reader import SqliteReader

    # Share, height (None without a vector) and aptness.
    Evidence = tuple[float, float | None, bool]

# --- fitted to the questions of bench/data/fitted, docs/adr/0014 ---
TABLE = "minilm-l6-static-v1"
# Weight of share, height and apt, and what is added to their sum; without a vector, of share and apt.
BOTH = (3.216, 0.275, 1.688, -3.092)
WORDS = (4.28, 0.325, -2.197)
# Mean and deviation of cosines in a store that is too small to have learned its own.
USUAL = (0.156, 0.094)
# An answer whose best hit is less sure than SILENT is none; of others, hits below FLOOR are left out. Questions
# about something else stay below LOW.
SILENT = 0.215
FLOOR = 0.126
LOW = 0.416
# --- end of what is calibrated ---

# Where all memories say the same, no higher mean and no smaller deviation.
_MOST, _LEAST = 0.8, 0.02
_LN2 = 0.6931
_E = 2.718281828459045

# What asks for a number after "how", and what is a number in letters, or a time.
_AMOUNTS = frozenset("many much long often old big large far fast high deep wide heavy frequently".split())
_FIGURES = frozenset(
    """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
    nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion dozen half third
    quarter once twice second minute hour day night week month year hourly daily nightly weekly monthly quarterly yearly
    annual every each never always monday tuesday wednesday thursday friday saturday sunday no none unlimited
    """.split()
)
_PERSON = frozenset(("who", "whose", "whom"))


class Weighed:
    """What speaks for a memory: its evidence, the share of the query's words in it, its cosine to the query."""

    __slots__ = ("cosine", "coverage", "evidence")

    def __init__(self, evidence: "Evidence", coverage: float, cosine: float | None = None) -> None:
        self.evidence, self.coverage, self.cosine = evidence, coverage, cosine


class Judge:
    """Weighs what was read for one query in one store."""

    __slots__ = (
        "_near",
        "asked",
        "chance",
        "deviation",
        "lacking",
        "mean",
        "number",
        "places",
        "query",
        "reader",
        "table",
        "told",
        "wants",
    )

    def __init__(
        self,
        reader: "SqliteReader",
        table: "StaticTable",
        query: str,
        reads: "Sequence[Read]",
        told: "Callable[[str], str]" = str,
    ) -> None:
        self.reader, self.table, self.query, self.told = reader, table, query, told
        self.places = [read.place for read in reads]
        self.asked = {stem(term): term for term in terms(query)}
        self.wants = wanted(query)
        self.number = reader.embedder(BUILTIN, f"{table.model}-v{table.version}", table.dimension)
        self.mean, self.deviation = usual(reader, table)
        # The highest of n draws from a normal distribution stands about so many deviations above its mean.
        self.chance = (2 * _LN2 * reader.count().bit_length()) ** 0.5
        # What the first that holds some of the query lacks of it.
        self.lacking: frozenset[str] | None = None
        self._near: dict[str, dict[int, float]] = {}

    def weighed(self, read: "Read") -> Weighed:
        """Weigh a memory; what took another's place by whichever text holds more of the query."""
        texts = [self.told(f"{row.text} {row.entities} {row.keywords}") for row in (read.row, read.former) if row]
        held = max((self.asked.keys() & stems(text) for text in texts), key=len)
        coverage = len(held) / len(self.asked) if self.asked else 0.0
        apt = apposite(self.wants, read.row.text, self.asked)
        # What another embedder's vectors brought up has no cosine yet.
        cosine = self._cosine(read, self.query) if read.anchor.cosine is None else read.anchor.cosine
        if cosine is None:
            return Weighed((coverage, None, apt), coverage)
        meant = (self._meant(read, cosine, self.asked.keys() - held) - self.mean) / (1 - self.mean)
        share = (coverage + (1 - coverage) * max(0.0, meant) + (read.maxsim or coverage)) / 2
        height = (cosine - self.mean) / self.deviation - self.chance
        return Weighed((share, height, apt), coverage, cosine)

    def _meant(self, read: "Read", cosine: float, lacking: set[str]) -> float:
        """Return the cosine of what a memory lacks of the query: of the first only, else of the whole query."""
        if not lacking or len(lacking) == len(self.asked):
            return cosine
        self.lacking = self.lacking or frozenset(lacking)
        if lacking != self.lacking:
            return cosine
        near = self._cosine(read, " ".join(term for own, term in self.asked.items() if own in lacking))
        return near or 0.0

    def _cosine(self, read: "Read", text: str) -> float | None:
        """Return the cosine between a text and a memory, None where either has no vector."""
        if self.number is None:
            return None
        if text not in self._near:
            self._near[text] = self.reader.cosines(self.number, query_planes(self.table.vector(text)), self.places)
        return self._near[text].get(read.place)


def confidence(share: float, height: float | None, apt: bool) -> float:
    """Return the probability that goes with a hit's evidence; more of any of it never gives less."""
    if height is None:
        if not share:
            return 0.0
        logit = WORDS[0] * share + WORDS[1] * apt + WORDS[2]
    else:
        logit = BOTH[0] * share + BOTH[1] * height + BOTH[2] * apt + BOTH[3]
    chance: float = 1 / (1 + _E**-logit)
    return chance


def usual(reader: "SqliteReader", table: "StaticTable") -> tuple[float, float]:
    """Return the mean and the deviation of cosines between unrelated memories of a store."""
    saved = reader.meta(spread_key(BUILTIN, f"{table.model}-v{table.version}", table.dimension))
    count, mean, squares = map(float, saved.strip("[]").split(",")) if saved else (0.0, 0.0, 0.0)
    if count < ENOUGH:
        return USUAL
    return min(mean, _MOST), max((squares / count) ** 0.5, _LEAST)


def wanted(query: str) -> str:
    """Return what kind of answer a question names: 'number', 'name', or ''."""
    plain = query.lower().split()[:2]
    if plain[:1] == ["how"] and plain[1:] and plain[1] in _AMOUNTS:
        return "number"
    return "name" if _PERSON.intersection(plain) else ""


def apposite(wants: str, text: str, asked: "Container[str]") -> bool:
    """Whether `text` has what a question wants, beside the stems of the question itself."""
    if not wants:
        return True
    answers = _is_number if wants == "number" else _is_name
    return any(answers(word) and stem(folded(word)) not in asked for word in words(text))


def _is_number(word: str) -> bool:
    return not word.isalpha() or word.lower() in _FIGURES or word.lower()[:-1] in _FIGURES


def _is_name(word: str) -> bool:
    return word[0].isupper() and word.lower() not in STOPWORDS
