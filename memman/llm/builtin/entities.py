"""Names worth linking memories by: identifiers, paths, packages, hosts, versions, products, people."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from memman.llm.builtin.lexicon import LANGUAGES, PRODUCTS, canonical, join_compounds
from memman.llm.builtin.patterns import choice, wordset
from memman.model.terms import STOPWORDS

MAX_ENTITIES = 12
_SHORTEST, _LONGEST = 2, 120  # characters; a longer token is data, not a name

_QUOTED = re.compile(r"`{1,2}([^`\n]{1,80})`{1,2}")
# Scripts without spaces part tokens as spaces do.
_TOKEN = re.compile(r"[^\s\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]+")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_TOP = choice("com org net io dev app ai co cloud sh xyz local internal example test de uk eu tech page edu gov")
_FOLDERS = choice(
    """src libs? docs? tests? apps? bin etc usr var opt tmp pkg cmd scripts? packages home internal api config
    infra""",
)
_ENDING = choice(
    """py js ts tsx jsx go rs java kt rb php c h cc cpp hpp cs swift sh sql md rst txt json ya?ml toml ini cfg conf
    env lock html? css scss xml csv proto tf db log service timer plist ipynb vue""",
)
# (rank, whole-token shape); the group is the name, the first shape that fits wins.
_SHAPES = tuple(
    (rank, re.compile(shape))
    for rank, shape in (
        (5, r"[a-z][a-z+]*://(?:[^/@\s]*@)?([\w.\-]+(?::\d+)?)(?:[/?#].*)?"),
        (6, r"(@[\w\-]+(?:/[\w.\-]+)?)(?:@.*)?"),
        (6, r"([A-Za-z][\w.\-]*)(?:\[[\w,]+\])?(?:==|>=|<=|~=|\^)v?\d[\w.*]*"),
        (6, r"((?:~|\.{1,2}|/[\w.@\-]+)(?:/[\w.@\-*]+)+/?)"),
        (6, rf"({_FOLDERS}(?:/[\w.@\-*]+)+/?)"),
        (6, rf"((?:[\w.@\-]+/)*[\w\-.]+\.{_ENDING})(?::\d+)*"),
        (6, r"((?:[\w.@\-]+/){2,}[\w.@\-]+/?)"),
        (6, r"((?:[\w.@\-]+/)+[\w.\-]*[_.\d\-][\w.\-]*)"),
        (6, r"(#\d{1,7})"),
        (6, r"((?!(?:UTF|SHA|ISO|RFC|MD|AES|RSA|TLS|GPT|HTTP)-)[A-Z][A-Z0-9]{1,9}(?:-\d{1,6}){1,2})"),
        (6, r"(\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?)"),
        (6, r"((?:localhost|[\w\-]+(?:\.[\w\-]+)+):\d{2,5})"),
        (5, rf"((?:[\w\-]+\.)+{_TOP})"),
        (6, r"(--?[A-Za-z][\w\-]+)(?:=.*)?"),
        (6, r"\$\{?([A-Z][A-Z0-9_]+)\}?"),
        (6, r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=.*)?"),
        (6, r"([A-Za-z_][\w.]*\(\))"),
        (6, r"(_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+)"),
        (6, r"([a-z][a-z0-9]*[A-Z][A-Za-z0-9]*)"),
        (5, r"((?!e\.g|i\.e|a\.m|p\.m)[A-Za-z_][\w]{1,}(?:\.[A-Za-z_]\w+)+)"),
        (5, r"([A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*)"),
    )
)
_QUOTE_RANK, _NAME_RANK, _WORD_RANK = 7, 5, 4
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:-[a-z0-9.]+)?")
_WORDLIKE = re.compile(r"[\w.+#'&\-]+")
_OPENING, _CLOSING = "([{<\"'\u201c\u2018*_", ".,;:!?)]}>\"'\u201d\u2019*\u2026\u3002\uff0c"
# Capitalised words that name nothing by themselves.
_PLAIN = wordset(
    """i ok todo note warning fyi readme yes no api apis url urls id ids ui ux cli json http https html css sql ci
    cd pr prs db os cpu ram llm ai ml qa adr wip eta faq utc pdf csv xml yaml monday tuesday wednesday thursday
    friday saturday sunday january february march april may june july august september october november december
    english eof io gb mb kb ssh tls ssl dns ip tcp udp utf-8 utf-16 sha-1 sha-256 iso-8601 md5 x509 jan feb mar
    apr jun jul aug sep oct nov dec mon tue wed thu fri sat sun""",
)
# Whoever does this at the beginning of a sentence is a person, or acts as one.
_PERSONAL = wordset(
    """owns prefers wants likes hates loves leads maintains said says joined works lives agreed asked approved reviews
    reported suggested prefers thinks""",
)
_ANYONE = wordset("user users team everyone nobody someone anyone somebody everybody project company customer client")


class _Token(NamedTuple):
    """A token out of its punctuation, and what that punctuation says."""

    name: str
    first: bool  # it begins a sentence, so that its capital says nothing
    opens: bool
    closes: bool


def _bare(token: str) -> str:
    """Take a token out of its punctuation, keeping the parentheses of a call."""
    call = token.rstrip(".,;:!?\"'\u201d\u2019\u2026")
    bare = call.lstrip(_OPENING) if call.endswith("()") else token.lstrip(_OPENING).rstrip(_CLOSING)
    return bare[:-2] if bare.endswith(("'s", "\u2019s")) else bare


def _tokens(text: str) -> list[_Token]:
    found, first = [], True
    for match in _TOKEN.finditer(text):
        token = match[0]
        name = _bare(token) if len(token) <= _LONGEST else ""
        found.append(_Token(name, first, token[0] in _OPENING, token[-1] in _CLOSING))
        first = token[-1] in ".!?:;" or (first and not name.isalpha())
    return found


def _shaped(name: str) -> tuple[int, str] | None:
    """Recognise a name by its shape."""
    if len(name) < _SHORTEST or (name.isalpha() and name[1:].islower()) or _EMAIL.fullmatch(name):
        return None
    return next(((rank, found[1]) for rank, shape in _SHAPES if (found := shape.fullmatch(name))), None)


def _known(name: str) -> bool:
    common = canonical(name.lower())
    return common in PRODUCTS or (common in LANGUAGES and (common != "go" or name in {"Go", "golang", "Golang"}))


def _proper(name: str) -> bool:
    """Whether a word reads as a name in the middle of a sentence."""
    lower = name.lower()
    plain = {lower, lower.rstrip("s")} & _PLAIN or lower in STOPWORDS
    return name[:1].isupper() and not plain and bool(_WORDLIKE.fullmatch(name))


def _person(name: str, follower: str) -> bool:
    return follower in _PERSONAL and name.lower() not in _ANYONE


def _named(run: list[str]) -> Iterator[tuple[int, str]]:
    """Name a run of words, with and without the version that ends it."""
    versioned = len(run) > 1 and _VERSION.fullmatch(run[-1])
    words = run[:-1] if versioned else run
    if words:
        rank = _NAME_RANK if len(words) > 1 or _known(words[0]) else _WORD_RANK
        yield rank, " ".join(words)
    if versioned:
        yield _NAME_RANK, " ".join(run)


def _found(text: str) -> Iterator[tuple[int, str]]:
    """Find every name with its rank, in the order of the text."""
    tokens = _tokens(text)
    repeated = {token.name for token in tokens if not token.first}
    run: list[str] = []
    opener = ""  # a sentence's first word: only a name when a name follows or it comes again
    followers = [*(token.name for token in tokens[1:]), ""]
    for (name, first, opens, closes), follower in zip(tokens, followers, strict=False):
        if opens:
            yield from _named(run)
            run, opener = [], ""
        shaped = _shaped(name)
        sure = not first or name in repeated or (name.isupper() and len(name) > 1) or _person(name, follower)
        proper = not shaped and _proper(name)
        version = bool(run) and bool(_VERSION.fullmatch(name))
        if not shaped and (version or _known(name) or (proper and sure)):
            run = [opener, name] if opener and proper and not run else [*run, name]
        else:
            yield from _named(run)
            run = []
            if shaped:
                yield shaped
        opener = name if proper and not sure and not closes else ""
        if closes or version:
            yield from _named(run)
            run = []
    yield from _named(run)


def _spelled(name: str, text: str) -> str:
    """Undo the joining of names of several words where the text has a space."""
    spaced = name.replace("-", " ")
    return spaced if spaced in text else name


def entities(text: str, hints: tuple[str, ...] = ()) -> list[str]:
    """List the names in `text`, best first after the given hints, each once whatever its casing."""
    quoted = [(_QUOTE_RANK, " ".join(span.split())) for span in _QUOTED.findall(text)]
    found = [*quoted, *_found(join_compounds(_QUOTED.sub(" , ", text)))]
    ranked = sorted(found, key=lambda pair: -pair[0])
    distinct: dict[str, str] = {}
    for name in (*hints, *(_spelled(name, text) for _, name in ranked)):
        if len(name) >= _SHORTEST and not _EMAIL.fullmatch(name):
            distinct.setdefault(name.casefold(), name)
    return list(distinct.values())[:MAX_ENTITIES]
