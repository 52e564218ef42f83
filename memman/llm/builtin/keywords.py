"""Keywords of a statement, and the summary of a long one."""

import re

from memman.model.terms import STOPWORDS, stem, words

MAX_KEYWORDS = 8
_LONG, _CLAUSE = 200, 120  # characters: when a summary is worth having, and how long it may be
_LONGEST_WORD = 40
_BREAK = re.compile(r"[.;:!?](?=\s)|,(?=\s)|\s[—\u2013-]\s|\n|[。\uff01\uff1f\uff1b\uff0c]")


def _rarity(word: str) -> tuple[bool, int]:
    """Rank a word: identifiers, names and figures with letters first, then the longer ones."""
    marked = any(map(str.isupper, word)) or not word.isalpha()
    return marked and not word.isdigit(), len(word)


def keywords(text: str) -> list[str]:
    """List the content words of `text`, rarer-looking first, one for each stem."""
    distinct: dict[str, str] = {}
    for word in words(text):
        lower = word.lower()
        if 1 < len(word) <= _LONGEST_WORD and lower not in STOPWORDS:
            distinct.setdefault(stem(lower), word)
    ranked = sorted(distinct.values(), key=_rarity, reverse=True)
    return [word.lower() for word in ranked[:MAX_KEYWORDS]]


def summary(text: str) -> str:
    """Give the first clause of a long text, or '' when the text is short enough to be its own summary."""
    if len(text) <= _LONG:
        return ""
    ends = [match.start() for match in _BREAK.finditer(text, 0, _CLAUSE)]
    end = next((at for at in ends if at >= _CLAUSE // 4), 0) or text.rfind(" ", 0, _CLAUSE)
    return text[: end if end > 0 else _CLAUSE].strip(" ,;:—\u2013-\n")
