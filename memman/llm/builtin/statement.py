"""A statement as the reconciling rules see it: sentences of words, with their mood."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from memman.llm.builtin.lexicon import canonical, join_compounds
from memman.llm.builtin.split import leans, sentences
from memman.model.terms import stem

_BOUND = 1500  # characters; longer texts are only compared as a whole

_WORD = re.compile(r"[~$@#/.\-]{0,3}\w+(?:[./:@+\-&]+\w+)*(?:'s)?(?:\+\+|[%#])?(?:\(\))?|[<>=≤≥≠]+")
_MARKS = re.compile(r"[`*\"“”]|(?<!\w)_+|_+(?!\w)")
_CONTRACTED = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"[’]", "'"),
        (r"\bcan't\b|\bcannot\b", "can not"),
        (r"\bwon't\b", "will not"),
        (r"n't\b", " not"),
        (r"\b(it|that|there|he|she|what|who|here)'s\b", r"\1 is"),
        (r"'re\b", " are"),
        (r"'ve\b", " have"),
        (r"'ll\b", " will"),
        (r"'m\b", " am"),
        (r"\bdoes not (\w+)", r"not \1s"),
        (r"\bany more\b", "anymore"),
    )
)
# Words that carry nothing two statements could differ in.
VACUOUS = frozenset(
    """a an the is are was were be been being am do does did has have had i we you he she it its our my your their
    us me them they this that these those there of so please very just really quite simply also too now currently
    presently today already still actually instead always""".split(),
)
PREPOSITIONS = frozenset(
    """in on at for from to by with of as via through into onto over under during after before since until
    within without across per inside outside behind about against between""".split(),
)
LINKS = frozenset("and or but because so since while when where which that if unless plus then as than".split())
ADVERBS = frozenset(
    "now today currently everywhere here instead too exclusively only again anymore yet still already directly".split(),
)
VERBS = frozenset(
    """use uses using used run runs running ran deploy deploys deployed deploying host hosts hosted hosting build builds
    built building test tests tested testing lint lints format formats store stores stored storing write writes written
    ship ships keep keeps manage manages track tracks rely relies depend depends choose chose chosen pick picked adopt
    adopted prefer prefers serve serves served cache caches log logs monitor monitors send sends sent kept held made set publish publishes bundle
    bundles install installs queue index search sits live lives stay commit commits is are was were am be been switched
    moved migrated have has had went go goes want wants pin pins pinned read reads expose exposes listen listens start
    starts decided should must call calls called name named handle handles authenticate authenticates back backs
    power powers speak speaks target targets""".split(),
)
_REASON = re.compile(
    r"[,;]? \b(?:because|since (?!\d)|due to|so that|so we|in order to|thanks to|as a result of)\b|[,;] (?:so|as|which)\b",
    re.IGNORECASE,
)
_NEGATIONS = frozenset("not no never without neither nor none cannot hardly rarely seldom".split())
# What says that something is not (yet, or surely) so.
_DOUBTS = re.compile(
    r"\?\s*$|^(?:should|could|would|can|may|shall|do|does|is|are|what|why|how|when|where|who|if|unless|suppose|imagine"
    r"|whether)\b"
    r"|\b(?:maybe|perhaps|might|possibly|probably|consider(?:ing|ed|s)?|thinking (?:of|about)|thought about|plan(?:s|ning|ned)?"
    r"|propos(?:e|es|ed|al|ing)|suggest(?:s|ed|ing)?|evaluat(?:e|es|ed|ing)|explor(?:e|es|ed|ing)|wants? to|want(?:ed|ing)? to"
    r"|would|could|hop(?:e|es|ing) to|wish(?:es)?|tr(?:y|ies|ied|ying) (?:to|out)|someday|eventually|soon|in the future|going to"
    r"|will (?:be )?(?:switch|mov|migrat|replac|drop|remov|upgrad|renam|chang)\w{0,4}|next (?:week|month|quarter|year|sprint)"
    r"|if|whether|unless|need(?:s)? to|has to|have to|hav(?:e|ing) to|once|until|(?:we|you|they) (?:should|can|may)|in case"
    r"|discuss(?:ed|ing|es)?|debat(?:ed|ing|es?)|ask(?:ed|s|ing)?|wonder(?:ed|s|ing)?|told|claims?|rumou?rs?|example|e\.g"
    r"|almost|nearly|reject(?:ed|s)?|declined|against|refus(?:e|ed|es)|pretend|instead of (?:us|we)|fail(?:ed|s)? to"
    r"|asap|todo|to do:|ready to|about to|idea|option|alternatively|recommend(?:s|ed)?|scheduled|hypothetical(?:ly)?)\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"\bused to\b|\b(?:formerly|previously|originally|initially|historically|back then|once)\b", re.IGNORECASE)
_ADDING = re.compile(
    r"\b(?:also|as well|additionally|in addition|alongside|besides|another|additional|too|both|plus|second|extra|either"
    r"|along with|on top of|sometimes|occasionally|one of)\b",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """One word: how it is written, its canonical lower-case form and its stem."""

    raw: str
    form: str
    stem: str
    closed: bool  # punctuation follows
    owner: bool  # it ended in 's


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; `words` leaves out the reason given for it, `content` what carries no meaning."""

    text: str
    words: tuple[Word, ...]
    content: tuple[str, ...]
    negated: bool
    doubtful: bool
    past: bool
    adding: bool

    @property
    def mood(self) -> tuple[bool, bool, bool]:
        """Compare by it: two sentences of different mood never say the same."""
        return self.negated, self.doubtful, self.past


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact's or a memory's text. `sentences` is empty where the text is too long to be read."""

    key: str
    sentences: tuple[Sentence, ...]

    @property
    def single(self) -> bool:
        """Whether everything after the first sentence only explains it."""
        return all(leans(sentence.text) for sentence in self.sentences[1:])


@lru_cache(maxsize=8192)
def root(form: str) -> str:
    """Stem a canonical form; twice, so that Fridays and Friday meet."""
    return stem(stem(form)) if form.isalpha() else form


def plain(text: str) -> str:
    """Write `text` without markup and contractions, names of several words joined."""
    for pattern, full in _CONTRACTED:
        text = pattern.sub(full, text)
    return join_compounds(" ".join(_MARKS.sub("", text).split()))


def words_of(text: str) -> tuple[Word, ...]:
    """Read plain text into words."""
    found = []
    for match in _WORD.finditer(text):
        raw = match[0]
        owner = raw.endswith("'s")
        form = canonical(raw.lower().removesuffix("'s"))
        found.append(Word(raw, form, root(form), text[match.end() : match.end() + 1] in _PUNCTUATION, owner))
    return tuple(found)


_PUNCTUATION = frozenset(".,;:!?()")


def content_of(words: tuple[Word, ...]) -> tuple[str, ...]:
    """The stems of `words` that carry meaning, in order."""
    return tuple(word.stem for word in words if word.form not in VACUOUS)


@lru_cache(maxsize=1024)
def sentence(text: str) -> Sentence:
    """Read one plain sentence."""
    reason = _REASON.search(text, 8)
    words = words_of(text[: reason.start()] if reason else text)
    return Sentence(
        text=text,
        words=words,
        content=content_of(words),
        negated=sum(word.form in _NEGATIONS for word in words) % 2 == 1,
        doubtful=bool(_DOUBTS.search(text)),
        past=bool(_PAST.search(text)),
        adding=bool(_ADDING.search(text)),
    )


@lru_cache(maxsize=1024)
def read(text: str) -> Statement:
    """Read a statement."""
    key = " ".join(text.casefold().split()).rstrip(".!; ")
    readable = text if len(text) <= _BOUND else ""
    return Statement(key, tuple(map(sentence, sentences(plain(readable)))))
