"""Documents as the drain hands them to the judge: one sentence per line, and what is worth keeping in them."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from memman.llm.builtin.extract import texts

_WORD = re.compile(r"\w+")
# A line is worth keeping where this part of its words is.
_SAID = 0.5
# Words that a line needs to say anything.
_LEAST = 2

# First character, one behind the last, and the kind of what is worth keeping.
Spans = tuple[tuple[int, int, str], ...]


def read(note: Mapping[str, Any]) -> tuple[str, Spans]:
    """Return what the judge reads of a note, and its spans there; as written where they cannot be found in it."""
    kept = note["keep"]
    for text in (*texts(note), note["text"]):
        found = [(_place(text, one["span"]), one["type"]) for one in kept]
        if all(place for place, _ in found):
            return text, tuple(sorted((*place, kind) for place, kind in found if place))
    raise ValueError(f"a span is no part of its note: {note['text'][:60]!r}")


def lines(text: str, spans: Spans) -> Iterator[tuple[str, bool]]:
    """Yield each line that says something, and whether it is worth keeping."""
    at = 0
    for line in text.split("\n"):
        words = [word.start() + at for word in _WORD.finditer(line)]
        if len(words) >= _LEAST:
            inside = sum(any(first <= word < last for first, last, _ in spans) for word in words)
            yield line, inside >= _SAID * len(words)
        at += len(line) + 1


def _place(text: str, span: str) -> tuple[int, int] | None:
    """Return where the letters of `span` stand in `text`, whatever signs and breaks are between them."""
    at = [n for n, char in enumerate(text) if char.isalnum()]
    first = "".join(text[n] for n in at).find(wanted := "".join(filter(str.isalnum, span)))
    return None if first < 0 else (at[first], at[first + len(wanted) - 1] + 1)
