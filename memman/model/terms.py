"""Words of a text, as both the index and the query see them. Safe on the hot path: imports nothing."""

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
# What str.translate makes of an ASCII character: itself, or a space.
_ASCII = "".join(chr(code) if chr(code).isalnum() else " " for code in range(128))
_COMBINING = range(0x300, 0x370)
_UNSPACED = (
    range(0x2E80, 0xA4D0),
    range(0xAC00, 0xD7B0),
    range(0xF900, 0xFB00),
    range(0x20000, 0x323B0),
    range(0x0E00, 0x0F00),
)


def unspaced(char: str) -> bool:
    """Whether `char` belongs to a script written without spaces (Chinese, Japanese, Korean, Thai)."""
    point = ord(char)
    return point > 0xDFF and any(point in block for block in _UNSPACED)  # noqa: PLR2004 - first block's start


def words(text: str) -> list[str]:
    """Split `text` into runs of letters and digits, case kept."""
    if text.isascii():
        return text.translate(_ASCII).split()
    # U+0300..U+036F are combining accents: part of the letter before them.
    spaced = "".join(c if c.isalnum() or ord(c) in _COMBINING else " " for c in text)
    return spaced.split()


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


def _variants(word: str) -> list[str]:
    """Return the further forms under which `word` is indexed, beside itself."""
    if any(map(unspaced, word)):
        return _pairs(word)
    pieces = parts(word)
    return [p.lower() for p in pieces] if len(pieces) > 1 else []


def index_terms(text: str) -> str:
    """Return the extra words to index with `text`: pieces of identifiers and pairs of unspaced script."""
    extra: dict[str, None] = {}
    for word in words(text):
        plain = word.isascii() and (word.isdigit() or (word.isalpha() and (word.islower() or word.istitle())))
        if not plain:
            extra.update(dict.fromkeys(_variants(word)))
    return " ".join(extra)


def query_terms(text: str) -> list[str]:
    """Return what to search for: the first of the `terms` of `text`."""
    return terms(text)[:MAX_TERMS]


def terms(text: str) -> list[str]:
    """Return the distinct lower-case terms of `text`, stop words out unless nothing else is left."""
    every: dict[str, None] = {}
    for word in words(text):
        if not word.isascii() and any(map(unspaced, word)):
            every.update(dict.fromkeys(_pairs(word)))
            continue
        every[word.lower()] = None
        every.update(dict.fromkeys(_variants(word)))
    return [term for term in every if term not in STOPWORDS] or list(every)


def match_any(terms: list[str]) -> str:
    """Write an FTS5 expression that matches rows holding any of `terms`; terms are quoted, never syntax."""
    return " OR ".join(f'"{term.replace(chr(34), chr(34) * 2)}"' for term in terms)


_ENDINGS = ("ations", "ation", "ments", "ment", "ings", "ing", "ies", "ied", "ed", "es", "s", "y", "e")
_MIN_STEM = 3


def stem(term: str) -> str:
    """Cut off common English endings, to compare words outside the index (which has its own Porter stemmer)."""
    for ending in _ENDINGS:
        if term.endswith(ending) and len(term) - len(ending) >= _MIN_STEM:
            return term[: -len(ending)]
    return term


def stems(text: str) -> frozenset[str]:
    """Return the stemmed terms of `text`, all of them: what a text does not say is judged by this."""
    return frozenset(map(stem, terms(text)))
