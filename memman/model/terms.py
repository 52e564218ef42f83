"""Words of a text, as both the index and the query see them. Safe on the hot path: imports nothing to speak of."""

STOPWORDS = frozenset(
    """a about above after again against all also am an and any are aren as at be because been before being
    below between both but by can cannot could couldn did didn do does doesn doing don down during each few for
    from further had hadn has hasn have haven having he her here hers herself him himself his how i if in into
    is isn it its itself just ll me more most must my myself no nor not now of off on once only or other ought
    our ours ourselves out over own please re same shall she should shouldn so some such than that the their
    theirs them themselves then there these they this those through to too under until up us ve very was wasn
    we were weren what when where which while who whom whose why will with won would wouldn you your yours
    yourself yourselves tell anything something know use used using does get got let s t d m""".split(),
)

MAX_TERMS = 48
_COMBINING = range(0x300, 0x370)
_UNSPACED = (
    range(0x2E80, 0xA4D0),
    range(0xAC00, 0xD7B0),
    range(0xF900, 0xFB00),
    range(0x20000, 0x323B0),
    range(0x0E00, 0x0F00),
)
# Letters that Unicode does not call another letter with an accent, though people type them so.
_ODD = str.maketrans({"\u0131": "i", "ø": "o", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"})
# Names whose signs the index drops.
_SIGNED = {"c++": "cplusplus", "c#": "csharp", "f#": "fsharp"}
# What ends an identifier, beside a blank.
_APART = str.maketrans(dict.fromkeys("'\"`()[]{}<>,;|\u2018\u2019\u201c\u201d", " "))


# What stands around a word and is no part of it.
_EDGES = ".,;:?!()[]{}<>\"'`*_~\u2026\u2018\u2019\u201c\u201d\u00ab\u00bb"


def unspaced(char: str) -> bool:
    """Whether `char` belongs to a script written without spaces (Chinese, Japanese, Korean, Thai)."""
    point = ord(char)
    return point > 0xDFF and any(point in block for block in _UNSPACED)  # noqa: PLR2004 - first block's start


class _Kept(dict[int, str]):
    """What str.translate makes of a character: itself where it belongs to a word, or a space. Learned as met."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        # Combining accents are part of the letter before them.
        self[point] = char if char.isalnum() or point in _COMBINING else " "
        return self[point]


class _Scripts(dict[int, str]):
    """The kind of script a character belongs to: 'u' without spaces, 's' with. Learned as met."""

    def __missing__(self, point: int) -> str:
        self[point] = "u" if unspaced(chr(point)) else "s"
        return self[point]


_ASCII = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_KEPT, _SCRIPTS = _Kept(), _Scripts()


def words(text: str) -> list[str]:
    """Split `text` into runs of letters and digits of one kind of script, case kept."""
    if text.isascii():
        return text.translate(_ASCII).split()
    runs = text.translate(_KEPT)
    if runs.isascii():
        return runs.split()
    from unicodedata import normalize

    return [word for run in normalize("NFKC", runs).split() for word in _of_one_kind(run)]


def lowered(text: str) -> list[str]:
    """Return the words of `text` in lower case, out of the signs around them, without a possessive's ending."""
    return [word.strip(_EDGES).lower().replace("\u2019", "'").removesuffix("'s") for word in text.split()]


def _of_one_kind(run: str) -> list[str]:
    """Part what is written with spaces from what is not: 使用PostgreSQL数据库 is three words."""
    kinds = run.translate(_SCRIPTS)
    if len(set(kinds)) == 1:
        return [run]
    from itertools import pairwise

    starts = [0, *(n for n in range(1, len(kinds)) if kinds[n] != kinds[n - 1]), len(run)]
    return [run[start:end] for start, end in pairwise(starts)]


def folded(word: str) -> str:
    """Return `word` as it is compared: in lower case and without accents."""
    if word.isascii():
        return word.lower()
    from unicodedata import normalize

    bare = "".join(c for c in normalize("NFD", word.casefold()) if ord(c) not in _COMBINING)
    return normalize("NFC", bare).translate(_ODD)


def parts(word: str) -> list[str]:
    """Split an identifier at its inner boundaries: getUserById -> get, User, By, Id; utf8 -> utf, 8."""
    if word.isdigit() or (word.isalpha() and word.islower()):
        return [word]
    found, start = [], 0
    for i in range(1, len(word)):
        before, here = word[i - 1], word[i]
        after = word[i + 1 : i + 2]
        hump = here.isupper() and (before.islower() or (before.isupper() and after.islower()))
        if hump or before.isdigit() != here.isdigit():
            found.append(word[start:i])
            start = i
    found.append(word[start:])
    return found


def _pairs(word: str) -> list[str]:
    """Overlapping pairs of characters, for scripts without spaces."""
    return [word[i : i + 2] for i in range(len(word) - 1)] or [word]


def _plain(chunk: str) -> bool:
    """Whether `chunk` is an ordinary word, which is most of what there is to look at."""
    return chunk.isascii() and (chunk.isdigit() or (chunk.isalpha() and (chunk.islower() or chunk.istitle())))


def index_terms(text: str) -> str:
    """Return the extra words to index with `text`: parts of identifiers, pairs of unspaced script, letters as typed."""
    extra: dict[str, None] = {}
    tokens = set(text.translate(_KEPT).split())
    for chunk in text.split():
        if _plain(chunk):
            continue
        split = [list(map(folded, parts(word))) for word in words(chunk)]
        if any(len(pieces) > 1 for pieces in split):
            extra[" ".join(piece for pieces in split for piece in pieces)] = None
        extra.update(dict.fromkeys(form for word in words(chunk) for form in _hidden(word, tokens)))
        extra.update(dict.fromkeys(_signed(chunk)))
    return " ".join(extra)


def _hidden(word: str, tokens: set[str]) -> list[str]:
    """Return the forms of `word` that are not among the index's own `tokens`."""
    if any(map(unspaced, word)):
        return [*_pairs(word), word[-1]]
    form = folded(word)
    return [] if word in tokens and form == word.lower() else [form]


def _signed(chunk: str) -> list[str]:
    """Return the name of C++ and the like, whose signs no index keeps."""
    name = _SIGNED.get(chunk.translate(_APART).strip(" .:!?").lower())
    return [name] if name else []


def query_terms(text: str) -> list[str]:
    """Return the words to search for: the first of the `terms` of `text`, and names like C++."""
    signed = (name for chunk in text.translate(_APART).split() for name in _signed(chunk))
    return list(dict.fromkeys((*terms(text), *signed)))[:MAX_TERMS]


def terms(text: str) -> list[str]:
    """Return the distinct terms of `text` in lower case, stop words out unless nothing else is left."""
    every: dict[str, None] = {}
    for word in words(text):
        if not word.isascii() and unspaced(word[0]):
            every.update(dict.fromkeys(_pairs(word)))
            continue
        every[folded(word)] = None
        if not _plain(word):
            # A single character that was part of a word tells nothing: k8s is not about an 8.
            every.update(dict.fromkeys(folded(piece) for piece in parts(word) if len(piece) > 1))
    return [term for term in every if term not in STOPWORDS] or list(every)


def name(text: str) -> str:
    """Write a name as it is compared: its words in lower case, joined by a space."""
    return " ".join(map(folded, words(text)))


# What may stand before and after a word and is no part of it: `.env`, `--flag`, `!=`, `C++` and `why?` stay whole.
_BEFORE, _AFTER = "\"'`([{", "\"'`)]}.,;:!"

# What is no punctuation where it stands alone: `git add .`
_PLACES = frozenset([".", "..", "./", "../", "*", "**", "/", "~", "~/"])


def written(text: str) -> list[str]:
    """Return the chunks of a text as they are compared: plain words in lower case, all else to the letter."""
    return [_written(chunk.lstrip(_BEFORE).rstrip(_AFTER) or chunk.strip("\"'`()[]{}")) for chunk in text.split()]


def _written(chunk: str) -> str:
    if chunk.isascii() and chunk.islower():
        return chunk
    plain = len(chunk) > 1 and chunk.replace("'", "").isalpha() and chunk[1:] == chunk[1:].lower()
    return chunk.casefold() if plain else chunk


def respelled(one: str, other: str) -> bool:
    """Whether two texts give a name in different letters or with different signs, so that neither says the other."""
    first, second = set(map(unadorned, written(one))), set(map(unadorned, written(other)))
    return _strays(first, second) or _strays(second, first)


def unadorned(chunk: str) -> str:
    """Return a chunk as it is `written` where it stands in bold or italic type."""
    bold = len(chunk) > 2 and chunk[0] == chunk[-1] == "*"  # noqa: PLR2004 - *word*
    return _written(chunk.strip("*").lstrip(_BEFORE).rstrip(_AFTER)) if bold else chunk


def _strays(mine: set[str], theirs: set[str]) -> bool:
    """Whether what only one text has is in the other except for capitals and signs, or is a place without letters."""
    bare = set(map(_bare, theirs)) - {""}
    return any(_bare(chunk) in bare or chunk in _PLACES for chunk in mine - theirs if chunk not in ("a", "A"))


def _bare(chunk: str) -> str:
    return "".join(filter(str.isalnum, chunk)).casefold()


# Not "A", "AND" or "IS": capitals make names of them.
_WEIGHTLESS = frozenset("a an the is are be of for which and we our also please".split())
_ENDS = (",", ".", ";", ":", "!")


def wording(text: str) -> list[str]:
    """Return the words of a text as statements are compared: in order, without those that carry no weight."""
    words = [word for word in map(unadorned, written(text)) if word and word not in _WEIGHTLESS]
    first, _, rest = text.strip().partition(" ")
    return ["", *words] if rest and first.endswith(_ENDS) else words


def match_any(terms: list[str]) -> str:
    """Write an FTS5 expression that matches rows holding any of `terms`; terms are quoted, never syntax."""
    return " OR ".join(map(_quoted, terms))


def match_all(terms: list[str]) -> str:
    """Write an FTS5 expression that matches rows holding all of `terms`."""
    return " AND ".join(map(_quoted, terms))


def _quoted(term: str) -> str:
    """Quote a word or a phrase; one character of unspaced script begins the pairs that hold it."""
    quoted = f'"{term.replace(chr(34), chr(34) * 2)}"'
    return f"{quoted}*" if len(term) == 1 and unspaced(term) else quoted


_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e")
_MIN_STEM = 3


def stem(term: str) -> str:
    """Cut off common English endings, to compare words outside the index (which has its own Porter stemmer)."""
    if not term.endswith(_ENDINGS):
        return term
    for ending in _ENDINGS:
        if term.endswith(ending) and len(term) - len(ending) >= _MIN_STEM:
            return term[: -len(ending)]
    return term


def stems(text: str) -> frozenset[str]:
    """Return the stemmed terms of `text`, all of them: what a text does not say is judged by this."""
    return frozenset(map(stem, terms(text)))
