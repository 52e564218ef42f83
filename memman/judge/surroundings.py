"""Where a passage of a message stands: what tells, beside its own words, whether the message's author wrote it."""

from collections.abc import Sequence

import numpy as np

from memman.embed.base import Vectors

_QUESTION, _STOP, _COLON, _BULLETS = ("?", "\uff1f"), (".", "\u3002"), (":", "\uff1a"), ("-", "*", "\u2022", "\u30fb")
# A message of more passages, letters and paragraphs is no longer told from a longer one.
_MANY, _LONG, _PARAGRAPHS = 20, 8.0, 5
# What a sign weighs beside an element of a unit vector.
_SIGN = 0.5


def surroundings(vectors: Vectors, text: str, passages: Sequence[tuple[int, int]]) -> Vectors:
    """Return for each passage its vector, those of its neighbours and the mean of all, and signs of its place."""
    none = np.zeros((1, vectors.shape[1]), np.float32)
    mean = np.broadcast_to(vectors.mean(0), vectors.shape)
    before, after = np.concatenate((none, vectors[:-1])), np.concatenate((vectors[1:], none))
    asks = [text[start:end].rstrip().endswith(_QUESTION) for start, end in passages]
    signs = [_signs(text, *passages[n], n, asks) for n in range(len(passages))]
    found: Vectors = np.c_[vectors, mean, before, after, _SIGN * np.array(signs, np.float32)]
    return found


def _signs(text: str, start: int, end: int, n: int, asks: Sequence[bool]) -> tuple[float, ...]:
    said, before, after = text[start:end], text[:start], text[end:]
    last = len(asks) - 1
    return (
        n == 0,
        n == last,
        n / last if last else 0.5,
        min(last + 1, _MANY) / _MANY,
        np.log1p(len(said)) / _LONG,
        np.log1p(len(text)) / _LONG,
        len(said) / len(text),
        not before or before.endswith("\n"),
        before.endswith("\n\n"),
        after.startswith("\n"),
        after.startswith("\n\n"),
        "\n" in text,
        min(text.count("\n\n") / _PARAGRAPHS, 1),
        said[:1].isupper(),
        said[:1].islower(),
        said[:1].isdigit(),
        said.startswith(_BULLETS),
        asks[n],
        said.endswith(_STOP),
        said.endswith(_COLON),
        any(asks[:n]),
        any(asks[n + 1 :]),
    )
