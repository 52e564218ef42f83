"""Names in a text by their structure alone: no list says which words are names.

What has the shape of an identifier is one (Kestrel-7, db02.prod, PAY-1432), and so is a word in capitals inside of a
sentence, or one that the language does not have. Other tokens may be names; whether they are, the store says: a rare
one that comes again in another memory is.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from functools import cache
from typing import NamedTuple

from memman.embed.static import StaticTable
from memman.model.terms import folded, stem

# Characters of a name, and of the two words that an ordinary compound is made of.
_SHORTEST, _LONGEST, _PART = 2, 80, 3
# A word of so few letters that the language does not have is an abbreviation of anything.
_WORD = 4
# A text is in the table's language if it has this share of the text's plain words.
_FAMILIAR = 0.6
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u2e80-\ud7ff\uf900-\uffef]+")
_CHUNK = re.compile(r"[^\s\"'`()\[\]{}<>,;|!?=\u2018\u2019\u201c\u201d\u00ab\u00bb\u2013\u2014\u2026]+")
_END = re.compile(r"[.!?:;]\s*$")
_JOINED = re.compile(r"[^\W_][-._/:@#][^\W_]")
_HUMP = re.compile(r"[^\W\d_]*[a-z][A-Z]")
_AMOUNT = re.compile(r"[\d.,:/+-]+[^\W\d_]{0,3}(?:[-/.]?[^\W\d_]+)?|v?\d+(?:[.\-]\w+)*", re.IGNORECASE)
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]?\.?")


class Kind(IntEnum):
    """How surely a token is a name by itself."""

    MAYBE = 0
    SHAPED = 1


class Name(NamedTuple):
    """A token that is a name, or may be one."""

    name: str
    kind: Kind


class _Token(NamedTuple):
    text: str
    first: bool  # it begins a sentence, so that its capital says nothing


def names(text: str) -> list[Name]:
    """Return the tokens of `text` that are names or may be, the sure ones first, each once."""
    tokens = list(_tokens(text))
    plain = [token.text for token in tokens if token.text.islower() and token.text.isalpha()]
    familiar = sum(map(_known, plain)) >= _FAMILIAR * len(plain)
    found: dict[str, Name] = {}
    for token in tokens:
        kind = _kind(token, familiar=familiar)
        if kind is not None:
            for form in (token.text, *_short(token.text)):
                found.setdefault(folded(form), Name(form, kind))
    return sorted(found.values(), key=lambda one: -one.kind)


def _tokens(text: str) -> Iterator[_Token]:
    text = _UNSPACED.sub(" ", text)
    first = True
    for match in _CHUNK.finditer(text):
        bare = match[0].strip(".:*_~-/\\+&%$^")
        bare = bare.removesuffix("'s").removesuffix("\u2019s")
        if _SHORTEST <= len(bare) <= _LONGEST:
            yield _Token(bare, first)
        first = bool(_END.search(text[match.start() : match.end() + 1])) if bare else first


def _kind(token: _Token, *, familiar: bool) -> Kind | None:
    """Say whether a token is a name, or may be; `familiar` whether its text is in the table's language."""
    said = token.text
    if not any(map(str.isalpha, said)) or _AMOUNT.fullmatch(said) or _INITIALS.fullmatch(said):
        return None
    if _identifier(said):
        return Kind.SHAPED
    if not said.isalpha():
        return Kind.MAYBE if _JOINED.search(said) else None
    if said[0].isupper() and not token.first and not (said.isupper() and _known(said)):
        return Kind.SHAPED if familiar else Kind.MAYBE
    return Kind.MAYBE if familiar and len(said) >= _WORD and not _ordinary(said) else None


def _short(said: str) -> Iterator[str]:
    """Yield what a file without its folders, or a host without its domain, is called."""
    parts = said.rsplit("/", 1)[1:] if "/" in said else said.split(".", 1)[:1] if "." in said else ()
    yield from (part for part in parts if part[:1].isalpha() and _identifier(part))


def _identifier(said: str) -> bool:
    """Whether a token has digits among its letters, humps, underscores, or the dots and slashes of a path."""
    if any(map(str.isdigit, said)) or _HUMP.match(said):
        return True
    return bool(_JOINED.search(said)) and ("_" in said or "." in said or said.count("/") > 1 or said[0].isupper())


def _ordinary(word: str) -> bool:
    """Whether the language has a word, an inflection of it, or the two words that it is made of."""
    return _known(word) or any(_known(word[:at]) and _known(word[at:]) for at in range(_PART, len(word) - _PART + 1))


def _known(word: str) -> bool:
    plain = folded(word)
    return any(_table().find(form) for form in (plain, stem(plain), stem(plain) + "e"))


@cache
def _table() -> StaticTable:
    return StaticTable()
