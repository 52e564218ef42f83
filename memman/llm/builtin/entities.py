"""Names worth linking memories by: identifiers, paths, packages, hosts, versions, products, people."""

import re
from collections.abc import Iterator

from memman.llm.builtin.lexicon import LANGUAGES, PRODUCTS, canonical, join_compounds
from memman.model.terms import STOPWORDS

MAX_ENTITIES = 12
_LONGEST = 120  # characters; a longer token is data, not a name

_QUOTED = re.compile(r"`([^`\n]{1,80})`")
# Scripts without spaces part tokens as spaces do.
_TOKEN = re.compile(r"[^\s\u2e80-\ud7ff\uf900-\ufaff\uff00-\uffef]+")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}")
_TOP = r"(?:com|org|net|io|dev|app|ai|co|cloud|sh|xyz|local|internal|example|test|de|uk|eu|tech|page|edu|gov)"
_FOLDERS = r"(?:src|lib|libs|docs?|tests?|app|apps|bin|etc|usr|var|opt|tmp|pkg|cmd|scripts?|packages|home|internal|api|config|infra)"
_FILE = r"[\w\-.]+\.(?:py|js|ts|tsx|jsx|go|rs|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|sh|sql|md|rst|txt|json|ya?ml|toml|ini|cfg|conf|env|lock|html?|css|scss|xml|csv|proto|tf|db|log|service|timer|plist|ipynb|vue)"
# (rank, whole-token shape); a group is the name, the first shape that fits wins.
_SHAPES: tuple[tuple[int, re.Pattern[str]], ...] = tuple(
    (rank, re.compile(shape))
    for rank, shape in (
        (5, r"[a-z][a-z+]*://(?:[^/@\s]*@)?([\w.\-]+(?::\d+)?)(?:[/?#].*)?"),
        (6, r"(@[\w\-]+/[\w.\-]+)(?:@.*)?"),
        (6, r"([A-Za-z][\w.\-]*)(?:\[[\w,]+\])?(?:==|>=|<=|~=|\^)v?\d[\w.*]*"),
        (6, r"((?:~|\.{1,2}|/[\w.@\-]+)(?:/[\w.@\-*]+)+/?)"),
        (6, r"(" + _FOLDERS + r"(?:/[\w.@\-*]+)+/?)"),
        (6, r"((?:[\w.@\-]+/)*" + _FILE + r")(?::\d+)*"),
        (6, r"((?:[\w.@\-]+/){2,}[\w.@\-]+/?)"),
        (6, r"((?:[\w.@\-]+/)+[\w.\-]*[_.\d\-][\w.\-]*)"),
        (6, r"(#\d{1,7})"),
        (6, r"((?!(?:UTF|SHA|ISO|RFC|MD|AES|RSA|TLS|CVE|GPT|HTTP)-)[A-Z][A-Z0-9]{1,9}-\d{1,6})"),
        (6, r"(\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?)"),
        (6, r"((?:localhost|[\w\-]+(?:\.[\w\-]+)+):\d{2,5})"),
        (5, r"((?:[\w\-]+\.)+" + _TOP + r")"),
        (6, r"(--?[A-Za-z][\w\-]+)(?:=.*)?"),
        (6, r"\$\{?([A-Z][A-Z0-9_]+)\}?"),
        (6, r"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=.*)?"),
        (6, r"([A-Za-z_][\w.]*\(\))"),
        (6, r"(_*[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+)"),
        (6, r"([a-z]+[a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+)"),
        (5, r"((?!e\.g|i\.e|a\.m|p\.m)[A-Za-z_][\w]{1,}(?:\.[A-Za-z_]\w+)+)"),
        (5, r"([A-Z][a-z0-9]+(?:[A-Z]+[a-z0-9]*)+)"),
    )
)
_VERSION = re.compile(r"v?\d+(?:\.\d+)*(?:-[a-z0-9.]+)?")
_OPENING, _CLOSING = "([{<\"'“‘*_", ".,;:!?)]}>\"'”’*…。，"
# Capitalised words that name nothing by themselves.
_PLAIN = frozenset(
    """i ok todo note warning fyi readme yes no api apis url urls id ids ui ux cli json http https html css sql
    ci cd pr prs db os cpu ram llm ai ml qa adr wip eta faq utc pdf csv xml yaml monday tuesday wednesday thursday
    friday saturday sunday january february march april may june july august september october november december
    english eof io gb mb kb ssh tls ssl dns ip tcp udp utf-8 utf-16
    sha-1 sha-256 iso-8601 md5 x509""".split(),
)


def _bare(token: str) -> str:
    """Take a token out of its punctuation, keeping the parentheses of a call."""
    call = token.rstrip(".,;:!?\"'”’…")
    return call.lstrip(_OPENING) if call.endswith("()") else token.lstrip(_OPENING).rstrip(_CLOSING)


def _shaped(token: str) -> tuple[int, str] | None:
    """Recognise a token by its shape."""
    for rank, shape in _SHAPES:
        found = shape.fullmatch(token)
        if found:
            return rank, found[1]
    return None


def _known(token: str) -> bool:
    name = canonical(token.lower())
    return name in PRODUCTS or (name in LANGUAGES and (name != "go" or token in {"Go", "golang", "Golang"}))


def _proper(token: str) -> bool:
    """Whether a token reads as a name in the middle of a sentence."""
    lower = token.lower()
    return lower != token and token[:1].isupper() and not {lower, lower.rstrip("s")} & _PLAIN and lower not in STOPWORDS


def _plain_tokens(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Each token, whether it begins a sentence and whether punctuation follows it."""
    first = True
    for match in _TOKEN.finditer(text):
        token = match[0]
        name = _bare(token) if len(token) <= _LONGEST else ""
        yield name, first, token[-1] in _CLOSING
        first = token[-1] in ".!?:;" or (first and not name.isalpha())


def _found(text: str) -> Iterator[tuple[int, str]]:
    """Every candidate with its rank, in the order of the text."""
    run: list[str] = []
    capitals = {token for token, first, _ in _plain_tokens(text) if not first and token[:1].isupper()}
    closed = True
    for token, first, closes in _plain_tokens(text):
        name = token[:-2] if token.endswith(("'s", "’s")) else token
        shaped = None if not name or name.isalpha() and name[1:].islower() or _EMAIL.fullmatch(name) else _shaped(name)
        versioned = run and not closed and _VERSION.fullmatch(name)
        known = not shaped and _known(name)
        named = not shaped and _proper(name) and (not first or name in capitals or name.isupper() and len(name) > 1)
        if run and (closed or shaped or not (versioned or named or (known and name[:1].isupper()))):
            yield from _run(run)
            run = []
        if shaped:
            yield shaped
            if not closes:
                run = [shaped[1]] if shaped[1].isalnum() else []
        elif versioned or named or known:
            run.append(name)
        closed = closes
    yield from _run(run)


def _run(run: list[str]) -> Iterator[tuple[int, str]]:
    """Name a run of capitalised words, with and without the version that ends it."""
    if not run:
        return
    versioned = len(run) > 1 and _VERSION.fullmatch(run[-1])
    words = run[:-1] if versioned else run
    name = " ".join(words)
    yield (5 if len(words) > 1 or _known(name) else 4), name
    if versioned:
        yield 5, " ".join(run)


def entities(text: str, hints: tuple[str, ...] = ()) -> list[str]:
    """List the names in `text`, best first after the given hints, each once whatever its casing."""
    quoted = [(7, " ".join(span.split())) for span in _QUOTED.findall(text)]
    rest = join_compounds(_QUOTED.sub(" , ", text))
    found = [*quoted, *_found(rest)]
    ranked = sorted(found, key=lambda pair: -pair[0])
    distinct: dict[str, str] = {}
    for name in (*hints, *(_spelled(name, text) for _, name in ranked)):
        if len(name) > 1 and not _EMAIL.fullmatch(name):
            distinct.setdefault(name.casefold(), name)
    return list(distinct.values())[:MAX_ENTITIES]


def _spelled(name: str, text: str) -> str:
    """Undo the joining of names of several words where the text has a space."""
    spaced = name.replace("-", " ")
    return spaced if spaced != name and spaced in text else name
