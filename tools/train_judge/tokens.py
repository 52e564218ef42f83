"""A text as BERT's tokens, each with the place in the text where its word stands."""

import re
from collections.abc import Mapping

from memman.embed import wordpiece
from memman.embed.static import IDEOGRAPHS

_IDEOGRAPH = "".join(f"{chr(low)}-{chr(high)}" for low, high in IDEOGRAPHS)
# Ideographs and marks stand alone, as BERT has them.
_WORD = re.compile(rf"[{_IDEOGRAPH}]|[^\W_{_IDEOGRAPH}]+|[^\w\s]|_")

# Number of a token, first character of its word, one behind the last.
Token = tuple[int, int, int]


def tokens(text: str, vocabulary: Mapping[str, int], most: int) -> list[Token]:
    """Return the first `most` tokens of `text`, those that begin and end a sentence left out."""
    found: list[Token] = []
    for word in _WORD.finditer(text):
        start, end = word.span()
        found += ((number, start, end) for number in wordpiece.ids(word.group(), vocabulary, most))
        if len(found) >= most:
            break
    return found[:most]
