"""Lessons as rows of token ids with their labels, and rows in batches of about one length."""

import random
from collections import Counter
from collections.abc import Iterator, Sequence

import torch
from lessons import Lessons, Pair, Text
from torch import Tensor

from memman.embed.bert import CLS, SEP
from memman.embed.static import ideograph
from memman.judge.judge import LONGEST_PAIR, bare, parts, tokens

# Tokens of a batch, padding included.
BATCH = 4096
# Labels of a token where nothing is kept, and of one that is no part of the text.
NOTHING, OUTSIDE = -1, -2
# Token ids, and a label each: of a pair 1 where it is of the newer statement, of a text the kind of what is kept there.
Row = tuple[list[int], list[int]]


def extended(lessons: Lessons, known: dict[str, int]) -> dict[str, int]:
    """Return MiniLM's vocabulary, and behind it the ideographs that are in more than one text and not in it."""
    vocabulary = dict(known)
    seen: Counter[str] = Counter()
    for text in _all(lessons):
        seen.update({char for char in text if ideograph(char)})
    for char in sorted(char for char, count in seen.items() if count > 1):
        vocabulary.setdefault(char, len(vocabulary))
    return vocabulary


def _all(lessons: Lessons) -> Iterator[str]:
    for pair in lessons.pairs:
        yield pair.old
        yield pair.new
    for text in lessons.texts:
        yield text.text


def pair_row(pair: Pair, vocabulary: dict[str, int]) -> Row:
    """Write a pair as [CLS] old [SEP] new [SEP], as the judge reads it."""
    said = (bare(pair.old), bare(pair.new))
    old, new = ([number for number, _, _ in tokens(text, vocabulary, LONGEST_PAIR)] for text in said)
    return [CLS, *old, SEP, *new, SEP], [0] * (len(old) + 2) + [1] * (len(new) + 1)


def text_rows(text: Text, vocabulary: dict[str, int]) -> Iterator[Row]:
    """Write a text as [CLS] … [SEP], a long one part by part, as the judge reads it."""
    for part in parts(tokens(text.text, vocabulary, len(text.text)), text.text):
        kinds = [next((kind for first, last, kind in text.spans if first <= at < last), NOTHING) for _, at, _ in part]
        yield [CLS, *(number for number, _, _ in part), SEP], [OUTSIDE, *kinds, OUTSIDE]


def statement_row(text: str, vocabulary: dict[str, int]) -> list[int]:
    """Write a statement as [CLS] … [SEP]."""
    return [CLS, *(number for number, _, _ in tokens(text, vocabulary, LONGEST_PAIR)), SEP]


def batches(rows: Sequence[Row], chance: random.Random | None = None) -> Iterator[list[int]]:
    """Yield row numbers, those of about one length together; with `chance` another way each time."""
    order = sorted(range(len(rows)), key=lambda n: (len(rows[n][0]) + (chance.random() * 4 if chance else 0), n))
    found: list[list[int]] = [[]]
    for n in order:
        if found[-1] and (len(found[-1]) + 1) * len(rows[n][0]) > BATCH:
            found.append([])
        found[-1].append(n)
    if chance:
        chance.shuffle(found)
    yield from found


def padded(rows: Sequence[Sequence[int]], empty: int = 0) -> Tensor:
    """Put rows into one tensor."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[empty] * (longest - len(row))] for row in rows])
