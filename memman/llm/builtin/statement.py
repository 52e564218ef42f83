"""A statement as the reconciling rules see it: sentences of words, with their mood."""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from memman.llm.builtin.grammar import ADDING, DOUBTS, NEGATIONS, PAST, VACUOUS
from memman.llm.builtin.lexicon import canonical, join_compounds
from memman.llm.builtin.split import leans, sentences
from memman.model.terms import stem

_BOUND = 1500  # characters; longer texts are only compared as a whole

_WORD = re.compile(r"[~$@#/.\-]{0,3}\w+(?:[./:@+\-&]+\w+)*(?:'s)?(?:\+\+|[%#])?(?:\(\))?|[<>=≤≥≠+*^]+")
_MARKS = re.compile(r"[`*\"“”]|(?<!\w)_+|_+(?!\w)")
_CONTRACTED = tuple(
    (re.compile(pattern, re.IGNORECASE), full)
    for pattern, full in (
        (r"\u2019", "'"),
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
# Nothing is contracted without one of these.
_CONTRACTING = ("'", "\u2019", "cannot", "does not", "any more")
_REASON = re.compile(
    r",? \b(?:because|since (?!\d)|due to|so that|so we|in order to|thanks to|as a result of)\b|[,;] (?:so|as|which)\b",
    re.IGNORECASE,
)


class Word(NamedTuple):
    """One word: how it is written, its canonical lower-case form and its stem."""

    raw: str
    form: str
    stem: str
    closed: bool  # punctuation follows
    owner: bool  # it ended in 's


@dataclass(frozen=True, slots=True, eq=False)
class Sentence:
    """One sentence; `words` leaves out the reason given for it, `content` what carries no meaning.

    It is itself and no other: caches look it up many times a note, and would hash all its words each time.
    """

    text: str
    words: tuple[Word, ...]
    content: tuple[str, ...]
    negated: bool
    doubtful: bool
    past: bool
    adding: bool
    reasoned: bool

    @property
    def mood(self) -> tuple[bool, bool, bool]:
        """Compare by it: two sentences of different mood never say the same."""
        return self.negated, self.doubtful, self.past


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact's or a memory's text. `sentences` is empty where the text is too long to be read."""

    text: str
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
    lowered = text.lower()
    if any(mark in lowered for mark in _CONTRACTING):
        for pattern, full in _CONTRACTED:
            text = pattern.sub(full, text)
    return join_compounds(" ".join(_MARKS.sub("", text).split()))


def words_of(text: str) -> tuple[Word, ...]:
    """Read plain text into words."""
    found = []
    for match in _WORD.finditer(text):
        raw = match[0]
        owner = raw.endswith("'s")
        bare = raw.removesuffix("'s")
        form = bare if bare in _CAPITALS else canonical(bare.lower())
        found.append(Word(raw, form, root(form), text[match.end() : match.end() + 1] in _PUNCTUATION, owner))
    return tuple(found)


# Names that would be pronouns in small letters.
_CAPITALS = frozenset(["US", "IT"])
_PUNCTUATION = frozenset(".,;:!?()")


def content_of(words: tuple[Word, ...]) -> tuple[str, ...]:
    """List the stems of `words` that carry meaning, in order."""
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
        negated=sum(word.form in NEGATIONS for word in words) % 2 == 1,
        doubtful=text.endswith("?") or bool(DOUBTS.search(text)),
        past=bool(PAST.search(text)),
        adding=bool(ADDING.search(text)),
        reasoned=reason is not None,
    )


@lru_cache(maxsize=1024)
def read(text: str) -> Statement:
    """Read a statement."""
    key = " ".join(text.casefold().split()).rstrip(".!; ")
    readable = text if len(text) <= _BOUND else ""
    return Statement(text, key, tuple(map(sentence, sentences(plain(readable)))))
