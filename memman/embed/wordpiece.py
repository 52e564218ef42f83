"""BERT's uncased tokenizer: words without case and accents, marks apart, each in its longest known pieces."""

from collections.abc import Iterable, Iterator, Mapping
from unicodedata import category, normalize

from memman.embed.static import ideograph, spell

UNKNOWN = "[UNK]"
_ASCII_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_BLANKS = "\t\n\r"


def ids(text: str, vocabulary: Mapping[str, int], most: int) -> list[int]:
    """Return the first `most` token ids of `text`, those that begin and end a sentence left out."""
    found: list[int] = []
    for word in words(text):
        found += spell(word, vocabulary.get) or [vocabulary[UNKNOWN]]
        if len(found) >= most:
            break
    return found[:most]


def words(text: str) -> list[str]:
    """Split into words in lower case without accents; every mark and every ideograph is a word of its own."""
    text = normalize("NFD", text)
    return text.translate(dict(_spaced(set(text)))).lower().split()


def _spaced(characters: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield what stands in place of each character that does not stay as it is."""
    for char in characters:
        kind = category(char)
        if char in _BLANKS or kind == "Zs":
            yield ord(char), " "
        elif kind == "Mn" or kind[0] == "C" or char == "\ufffd":
            yield ord(char), ""
        elif kind[0] == "P" or char in _ASCII_MARKS or ideograph(char):
            yield ord(char), f" {char} "
