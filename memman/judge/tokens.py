"""A text as BERT's tokens, each with the place in the text where its word stands."""

import re
from collections.abc import Iterator, Mapping
from unicodedata import category

from memman.embed import wordpiece
from memman.embed.static import IDEOGRAPHS, ideograph

_IDEOGRAPH = "".join(f"{chr(low)}-{chr(high)}" for low, high in IDEOGRAPHS)
# Ideographs and marks stand alone, as BERT has them.
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\W_{_IDEOGRAPH}]+|[^\w\s]|_")

# Number of a token, first character of its word, one behind the last.
Token = tuple[int, int, int]


def tokens(text: str, vocabulary: Mapping[str, int], most: int) -> list[Token]:
    """Return the first `most` tokens of `text`, those that begin and end a sentence left out."""
    found: list[Token] = []
    for start, end in _words(text):
        found += ((number, start, end) for number in wordpiece.ids(text[start:end], vocabulary, most))
        if len(found) >= most:
            break
    return found[:most]


def bare(statement: str) -> str:
    """Return a statement without its full stop: whether there is one tells only in what mood it was typed."""
    return statement.rstrip(" .!\u3002\uff01") or statement


def _words(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each word begins and ends; accents and vowel signs behind a letter belong to its word."""
    at, size = 0, len(text)
    while word := _WORD.search(text, at):
        start, at = word.span()
        while at < size and category(text[at])[0] == "M":
            at += 1
            more = _WORD.match(text, at)
            at = more.end() if more and more[0].isalnum() and not ideograph(more[0][0]) else at
        yield start, at
