"""How sure recall is that a hit is what was asked for, from 0 to 1. Safe on the hot path.

Three things that a person can check speak for a hit, each the more the surer:

- share: the part of the query's words that the memory holds, or comes near in meaning, word by word and together;
- height: deviations of its cosine above the best that a store of this size gives for nothing in particular;
- apt: a question for a number meets a number, one for a person a name.

The numbers are fitted to labelled questions by `python -m bench.calibrate`, for one table: see docs/adr/0014.
"""

from memman.embed.static import query_planes
from memman.model.terms import STOPWORDS, folded, stem, stems, terms, words
from memman.model.vocabulary import BUILTIN, ENOUGH, spread_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from memman.embed.static import StaticTable
    from memman.recall.hit import Hit
    from memman.store.sqlite.reader import SqliteReader

# --- calibrated: written by `python -m bench.calibrate --write`, not by hand ---
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


class Judge:
    """Weighs the hits of one query in one store."""

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
        hits: "Sequence[Hit]",
        told: "Callable[[str], str]" = str,
    ) -> None:
        self.reader, self.table, self.query, self.told = reader, table, query, told
        # The memories whose vectors stand for the hits.
        self.places = [hit.stands_for or hit.id for hit in hits]
        self.asked = {stem(term): term for term in terms(query)}
        self.wants = wanted(query)
        self.number = reader.embedder(BUILTIN, f"{table.model}-v{table.version}", table.dimension)
        self.mean, self.deviation = usual(reader, table)
        # The highest of n draws from a normal distribution stands about so many deviations above its mean.
        self.chance = (2 * _LN2 * reader.count().bit_length()) ** 0.5
        # What the first hit that holds some of the query lacks of it.
        self.lacking: frozenset[str] | None = None
        self._near: dict[str, dict[int, float]] = {}

    def weigh(self, hit: "Hit") -> None:
        """Set a hit's coverage and confidence."""
        hit.confidence = confidence(*self.evidence(hit))
        hit.doubtful = hit.confidence < LOW

    def evidence(self, hit: "Hit") -> tuple[float, float | None, bool]:
        """Return a hit's share, height (None without a vector) and aptness, and set its coverage.

        What took another's place is judged by whichever of the two texts holds more of the query.
        """
        texts = [self.told(f"{row[3]} {row[6]} {row[7]}") for row in (hit.row, hit.former) if row]
        held = max((self.asked.keys() & stems(text) for text in texts), key=len)
        hit.coverage = len(held) / len(self.asked) if self.asked else 0.0
        apt = apposite(self.wants, hit.row[3], self.asked)
        # What an edge led to has no cosine yet, nor what another embedder's vectors brought up.
        cosine = self._cosine(hit, self.query) if hit.cosine is None else hit.cosine
        if hit.meaning_rank:
            hit.cosine = cosine
        if cosine is None:
            return hit.coverage, None, apt
        meant = (self._meant(hit, cosine, self.asked.keys() - held) - self.mean) / (1 - self.mean)
        share = hit.coverage + (1 - hit.coverage) * max(0.0, meant)
        return (share + (hit.likeness or hit.coverage)) / 2, (cosine - self.mean) / self.deviation - self.chance, apt

    def _meant(self, hit: "Hit", cosine: float, lacking: set[str]) -> float:
        """Return the cosine of what a hit lacks of the query.

        For its cost only what the first hit lacks is embedded; where another lacks other words, the whole query
        speaks for them.
        """
        if not lacking or len(lacking) == len(self.asked):
            return cosine
        self.lacking = self.lacking or frozenset(lacking)
        if lacking != self.lacking:
            return cosine
        near = self._cosine(hit, " ".join(term for own, term in self.asked.items() if own in lacking))
        return near or 0.0

    def _cosine(self, hit: "Hit", text: str) -> float | None:
        """Return the cosine between a text and a hit, None where either has no vector."""
        if self.number is None:
            return None
        if text not in self._near:
            self._near[text] = self.reader.cosines(self.number, query_planes(self.table.vector(text)), self.places)
        return self._near[text].get(hit.stands_for or hit.id)


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
