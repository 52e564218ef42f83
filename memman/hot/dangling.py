"""What in a text points at something that whoever reads it later does not see: "line 42", "as discussed", "this file".

Advice for who wrote it, and nothing else: the note is taken as it is. A short list on purpose. Safe on the hot path.
"""

from itertools import pairwise

# A word, and what makes it point when it stands before.
_PAIRS = {
    "as": ("discussed", "mentioned", "agreed", "said", "above"),
    "see": ("above", "below"),
    "the": ("above", "following"),
    "this": ("file", "function", "line", "class", "method", "branch", "commit", "conversation", "session", "thread"),
}
_SOURCES = ("py", "js", "ts", "tsx", "go", "rs", "c", "h", "cpp", "cs", "java", "kt", "rb", "php", "sql", "sh", "md")
_MARKS = ".,;:!?()[]\"'`"
# Warnings of one text, the first.
_MOST = 3


def dangling(text: str) -> list[str]:
    """Return what points out of `text`, as it says it."""
    words = [word.strip(_MARKS) for word in text.split()]
    pairs = [f"{one} {other}" for one, other in pairwise(words) if _points(one.lower(), other.lower())]
    return list(dict.fromkeys((*pairs, *filter(_numbered, words))))[:_MOST]


def _points(one: str, other: str) -> bool:
    return other in _PAIRS.get(one, ()) or (one in ("line", "lines") and other[:1].isdigit())


def _numbered(word: str) -> bool:
    """Whether a word is a place in a file, as in auth.py:42."""
    name, _, number = word.partition(":")
    return number[:1].isdigit() and name.rpartition(".")[2] in _SOURCES and "." in name
