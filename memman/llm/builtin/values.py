"""Values as claims give them: of what kind they are, and which can stand in for each other."""

import re
from functools import lru_cache

from memman.llm.builtin.grammar import LINKS, PREPOSITIONS, VACUOUS
from memman.llm.builtin.lexicon import UNITS, class_of
from memman.llm.builtin.patterns import wordset
from memman.llm.builtin.statement import Word

Span = tuple[Word, ...]

NUMBER = ("number",)
_QUANTITY = re.compile(r"[$-]?v?\d[\d.,_]*(ms|s|m|h|d|k|kb|mb|gb|tb|%|px|x)?")
_DIMENSIONS = {"%": "share", "ms": "time", "s": "time", "m": "time", "h": "time", "d": "time"}
_NUMERALS = wordset("one two three four five six seven eight nine ten eleven twelve once twice zero")
_ENDING = r"\.(?:py|js|ts|toml|ya?ml|json|md|txt|cfg|ini)"
_SHAPES = (
    ("clock", re.compile(r"\d{1,2}:\d\d|\d{1,2}(?:am|pm)|noon|midnight")),
    ("date", re.compile(r"\d{4}-\d\d(?:-\d\d)?|\d{1,2}(?:st|nd|rd|th)")),
    ("path", re.compile(rf"[~.]?(?:/[\w.@\-]+)+|(?:[\w.@\-]+/)+[\w.@\-]*|[\w\-]+{_ENDING}")),
    ("host", re.compile(r"(?:[\w\-]+\.)+[a-z]{2,}(?::\d+)?|localhost(?::\d+)?|\d+(?:\.\d+){3}(?::\d+)?")),
)
_LONGEST = 100  # characters; a longer word is no value


@lru_cache(maxsize=4096)
def kinds(form: str) -> tuple[str, ...]:
    """Name the kind of value a word is, number and unit where it holds both; () for an ordinary word."""
    if len(form) > _LONGEST:
        return ()
    quantity = _QUANTITY.fullmatch(form)
    if quantity:
        return (*NUMBER, _DIMENSIONS.get(quantity[1], "size")) if quantity[1] else NUMBER
    if form in _NUMERALS:
        return NUMBER
    known = UNITS.get(form) or class_of(form)
    if known:
        return (known,)
    return next(((name,) for name, shape in _SHAPES if shape.fullmatch(form)), ())


def meaning(words: Span) -> Span:
    """Leave out the words without meaning."""
    return tuple(word for word in words if word.form not in VACUOUS)


def apart(old: Span, new: Span) -> tuple[Span, Span]:
    """Keep of each of two spans what the other has not."""
    olds, news = {word.stem for word in old}, {word.stem for word in new}
    return tuple(word for word in old if word.stem not in news), tuple(word for word in new if word.stem not in olds)


def exchangeable(old: Span, new: Span) -> bool:
    """Whether two values are of one kind: ports, weekdays, versions, databases, paths."""
    old, new = apart(old, new)
    were, are = [kinds(word.form) for word in old], [kinds(word.form) for word in new]
    if not were or not are or () in were or () in are:
        return False
    return [kind for one in were for kind in one] == [kind for one in are for kind in one]


def nameable(words: Span) -> bool:
    """Whether a value reads as a name: capital, digit, identifier or a known word."""
    return any(word.raw[:1].isupper() or not word.form.isalpha() or class_of(word.form) for word in words)


def narrow(words: Span) -> bool:
    """Whether a value drags a place, time or condition behind it."""
    return any(word.form in PREPOSITIONS or word.form in LINKS for word in words)
