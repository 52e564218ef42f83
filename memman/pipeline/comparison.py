"""The words of texts that a drain meets again and again, and whether one text says what others say."""

import re
from collections.abc import Sequence
from functools import lru_cache

from memman.model import terms
from memman.pipeline.fidelity import parsed

# Texts kept: the candidates of a few hundred notes.
KEPT = 4_096
# A memory that holds this part of a fact's telling words says it already.
SAME = 0.6
# Several memories together say it from here on.
TOGETHER = 0.8
# Words that tell who said or wants a thing, not what.
_FRAME = frozenset(
    map(
        terms.stem,
        """user developer team prefer preference want like always never please use using used should must say said
        ask decide decided agreed note remember memory recall recalled noted mentioned earlier""".split(),
    )
)
_NUMBER = re.compile(r"\d+")

stems = lru_cache(KEPT)(terms.stems)
_wording = lru_cache(KEPT)(terms.wording)


def same(one: str, other: str) -> bool:
    """Whether two texts are one statement, of one wording: likeness decides nothing."""
    return _wording(one) == _wording(other)


def says(texts: Sequence[str], text: str, share: float) -> bool:
    """Whether `texts` hold `share` of a text's telling words, its numbers and names, and deny no less."""
    whole = " ".join(texts)
    if _covers(texts, text) < share or not numbers(text) <= numbers(whole) or terms.respelled(text, whole):
        return False
    return _denials(text) <= _denials(whole)


def _denials(text: str) -> int:
    return sum(len(one.denied) for one in parsed(text))


def twins(text: str, other: str) -> bool:
    """Whether two texts say the same in nearly the same words, neither much more than the other."""
    return says([text], other, TOGETHER) and says([other], text, TOGETHER)


def numbers(text: str) -> set[str]:
    """Return the figures of a text."""
    return set(_NUMBER.findall(text))


def _covers(texts: Sequence[str], text: str) -> float:
    """Return the share of the telling words of `text` that `texts` hold."""
    telling = stems(text) - _FRAME or stems(text)
    held = frozenset[str]().union(*map(stems, texts))
    return len(telling & held) / len(telling) if telling else 1.0
