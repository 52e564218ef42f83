"""Names worth linking memories by, told by their shape: paths, identifiers, hosts, versions, tickets, capitals.

No list says which words are names. Whether a token that only may be one is, the store says: a rare one that comes again
in another memory is.
"""

import re
from collections.abc import Iterator
from enum import IntEnum
from typing import NamedTuple

from memman.model.terms import STOPWORDS

MAX_ENTITIES = 12
_SHORTEST, _LONGEST = 2, 120  # characters; a longer token is data, not a name

_QUOTED = re.compile(r"`{1,2}([^`\n]{1,80})`{1,2}")
# Scripts without spaces part tokens as spaces do.
_TOKEN = re.compile(r"[^\s\u0e00-\u0eff\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]+")
_OPENING, _CLOSING = "([{<\"'\u201c\u201e\u00ab\u2018*_", ".,;:!?)]}>\"'\u201d\u00bb\u2019*\u2026"
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
# Amounts, times and dates, initials: these name nothing.
_NOTHING = re.compile(
    r"[+-]?\d[\d.,:/+x%-]*[^\W\d_]{0,3}(?:[-/.]?[^\W\d_]+)?|v?\d+(?:[.\-]\w+)*|\d+(?:st|nd|rd|th)|(?:[^\W\d_]\.)+[^\W\d_]?\.?",
    re.IGNORECASE,
)
# Whole tokens that are names; the group is the name, the first shape that fits wins.
_SHAPES = tuple(
    re.compile(shape)
    for shape in (
        r"[a-z][a-z+]*://(?:[^/@\s]*@)?([\w.\-]+(?::\d+)?)(?:[/?#].*)?",  # an address: its host
        r"(@[\w\-]+(?:/[\w.\-]+)?)(?:@.*)?",  # a scoped package, somebody's handle
        r"([A-Za-z][\w.\-]*)(?:\[[\w,]+\])?(?:==|>=|<=|~=|\^)v?\d[\w.*]*",  # a package and its version
        r"((?:~|\.{1,2})?/(?:[\w.@\-*]+/)*[\w.@\-*]+/?)",  # a path from somewhere
        r"((?:[\w.@\-*]+/){2,}[\w.@\-*]*|(?:[\w.@\-*]+/)+|(?:[\w.@\-]+/)+[\w\-]*[_.\d\-][\w.\-]*)(?::\d+)*",  # a path
        r"(#\d{1,7})",
        r"([A-Z][A-Z0-9]{1,9}(?:-\d{1,6}){1,2})",  # a ticket
        r"(\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?)",
        r"((?:[A-Za-z][\w\-]*)(?:\.[\w\-]+)*:\d{2,5})",  # a host and its port
        r"(--?[A-Za-z][\w\-]+)(?:=.*)?",  # an option
        r"\$\{?([A-Z][A-Z0-9_]+)\}?",
        r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=.*)?",
        r"([A-Za-z_][\w.]*\(\))",
        r"((?:[\w\-]*[A-Za-z_][\w\-]*|\d+)?(?:\.[A-Za-z_][\w\-]+)+)(?::\d+)*",  # a file, a host, a module
        r"(_*[^\W\d_][^\W_]*(?:_+[^\W_]+)+)",
        r"([^\W\d_]*[a-z][A-Z]\w*)",
        r"(?=[^\d\s]*\d)(?=[\d.\-]*[^\W\d_])([^\W_][\w.\-]*)",  # digits among letters: Kestrel-7, db02
    )
)
_JOINED = re.compile(r"[^\W_]+(?:-[^\W_]+)+")
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:-[a-z0-9.]+)?")


class Kind(IntEnum):
    """How surely a token is a name by itself: perhaps, by its capital amid a sentence, or by its shape."""

    MAYBE = 0
    CAPITAL = 1
    SHAPED = 2


class Name(NamedTuple):
    """What is a name, or may be one."""

    name: str
    kind: Kind


class _Token(NamedTuple):
    text: str
    first: bool  # it begins a sentence, so that its capital says nothing
    opens: bool
    closes: bool


def names(text: str) -> list[Name]:
    """Return what in a text is a name or may be, the surest first, each once."""
    quoted = [Name(" ".join(span.split()), Kind.SHAPED) for span in _QUOTED.findall(text)]
    found: dict[str, Name] = {}
    for one in (*quoted, *_found([*_tokens(_QUOTED.sub(" , ", text))])):
        if len(one.name) >= _SHORTEST and not _EMAIL.fullmatch(one.name):
            found.setdefault(one.name.casefold(), one)
    return sorted(found.values(), key=lambda one: -one.kind)


def entities(text: str, hints: tuple[str, ...] = ()) -> list[str]:
    """List the names in `text`, the surest first after the given hints, each once whatever its casing."""
    told = (*hints, *(one.name for one in names(text) if one.kind > Kind.MAYBE))
    distinct = {name.casefold(): name for name in reversed(told) if len(name) >= _SHORTEST}
    return [distinct.pop(key) for name in told if (key := name.casefold()) in distinct][:MAX_ENTITIES]


def shaped(token: str) -> str:
    """Return the name that a token has the shape of, '' for none."""
    if len(token) < _SHORTEST or _EMAIL.fullmatch(token) or (token.isalpha() and token[1:] == token[1:].lower()):
        return ""
    found = next((match[1] for shape in _SHAPES if (match := shape.fullmatch(token))), "")
    return "" if _NOTHING.fullmatch(found) and not found.startswith("#") and found.count(".") < 3 else found  # noqa: PLR2004


def _tokens(text: str) -> Iterator[_Token]:
    first = True
    for match in _TOKEN.finditer(text):
        token = match[0]
        bare = _bare(token) if len(token) <= _LONGEST else ""
        yield _Token(bare, first, token[0] in _OPENING, token[-1] in _CLOSING)
        first = token[-1] in ".!?:;" or (first and not bare.isalpha())


def _bare(token: str) -> str:
    """Take a token out of its punctuation, keeping the parentheses of a call."""
    call = token.rstrip(".,;:!?\"'\u201d\u2019\u2026")
    bare = call.lstrip("([{<\"'`*") if call.endswith("()") else token.lstrip(_OPENING).rstrip(_CLOSING)
    return bare[:-2] if bare.endswith(("'s", "\u2019s")) else bare


def _found(tokens: list[_Token]) -> Iterator[Name]:
    """Yield every name in the order of the text; words in capitals that stand side by side are one."""
    again = {token.text for token in tokens if not token.first}
    run: list[str] = []
    opener = ""  # a sentence's first word: a name only where the next word is one
    for token in tokens:
        said = token.text
        if token.opens:
            yield from _named(run)
            run = []
        name = shaped(said)
        version = bool(run) and bool(_VERSION.fullmatch(said))
        capital = said[:1].isupper() and said.lower() not in STOPWORDS and len(said) >= _SHORTEST
        capital &= not name or said.isalpha()
        if version or (capital and (name or not token.first or said in again)):
            run = [opener, said] if opener and not run else [*run, said]
        else:
            yield from _named(run)
            run = []
            if name:
                yield Name(name, Kind.SHAPED)
            elif _JOINED.fullmatch(said) and not _NOTHING.fullmatch(said):
                yield Name(said, Kind.MAYBE)
        opener = said if capital and not run and not token.closes else ""
        if token.closes or version:
            yield from _named(run)
            run = []
    yield from _named(run)


def _named(run: list[str]) -> Iterator[Name]:
    """Name a run of words in capitals, with and without the version that ends it."""
    if len(run) > 1 and _VERSION.fullmatch(run[-1]):
        yield Name(" ".join(run[:-1]), Kind.CAPITAL)
    if run:
        yield Name(" ".join(run), Kind.CAPITAL)
