"""Recalled text is no news: a memory that was shown, or is stored, is not learned again from its echo."""

import re
from collections.abc import Sequence

from memman.model.records import Candidate, Fact, Note
from memman.model.terms import STOPWORDS, respelled, stem, words
from memman.model.vocabulary import LOW_TRUST
from memman.pipeline.candidates import lexical, nearest
from memman.pipeline.plan import Tools
from memman.pipeline.trust import lowest, source
from memman.pipeline.words import stems
from memman.store.protocols import Reader

# A memory that holds this part of a fact's telling words says it already.
SAME = 0.6
# Several memories together say it from here on.
TOGETHER = 0.8
# A wish is known from this cosine of the telling words on, or from the lower one if it also holds this part of a
# memory's telling words. Of 52 rephrased facts, 46 are known so and 27 by their words alone; of 102 others on the
# same subjects 13 and 11 (tests/unit/test_echo.py).
ALIKE = 0.68
AKIN = 0.5
MOST = 0.65
# Stored memories that an agent's fact is compared with, best match first, and those shown last.
_NEAREST = 8
_SHOWN = 64
_TEXT = 3  # column of a row
# Words that tell who said or wants a thing, not what.
_FRAME = frozenset(
    map(
        stem,
        """user developer team prefer preference want like always never please use using used should must say said
        ask decide decided agreed note remember memory recall recalled noted mentioned earlier""".split(),
    )
)
# How an agent tells what its user wants.
_WISH = re.compile(r"\b(?:user|developer|team|must|should|always|never|prefer\w*)\b", re.IGNORECASE)
_AGAINST = re.compile(
    r"n['\u2019]t\b|\b(?:no|not|never|none|nor|neither|cannot|without|avoid\w*|dislike\w*|hate\w*|forbid\w*|stop\w*"
    r"|rather|instead|over|than)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+")


async def news(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Leave out what an agent says that is stored, or that the session was shown. What a user says is news."""
    told = [one for one in facts if one.source]
    if not told:
        return tuple(facts)
    reader = tools.reader
    shown = [str(row[_TEXT]) for row in reader.rows(reader.located(note.shown[-_SHOWN:])).values()]
    known = {one.text for one in told if await _known(tools, one, shown)}
    return tuple(one for one in facts if not (one.source and one.text in known))


async def _known(tools: Tools, fact: Fact, shown: Sequence[str]) -> bool:
    if any(_says([text], fact.text, SAME) for text in shown) or _says(shown, fact.text, TOGETHER):
        return True
    return held(tools.reader, fact) is not None or await _rephrased(tools, fact, shown)


def whose(note: Note, fact: Fact, candidates: Sequence[Candidate]) -> str:
    """Return whose word a fact is: an agent that says in nearly the same words what low trust says hands that on."""
    mine = source(note, fact)
    read = [c for c in candidates if c.source in LOW_TRUST] if mine == "agent" else []
    return lowest(mine, *(c.source for c in read if _twins(c.text, fact.text)))


def held(reader: Reader, fact: Fact) -> int | None:
    """Return the stored memory that says what an agent's fact says, one that is out of date too."""
    found = [memory for memory, _ in lexical(reader, fact.text)[:_NEAREST]] if fact.source else []
    rows = reader.rows(found)
    return next((memory for memory in found if _says([rows[memory][_TEXT]], fact.text, SAME)), None)


async def _rephrased(tools: Tools, fact: Fact, shown: Sequence[str]) -> bool:
    """Whether a wish that an agent reports is known in other words."""
    if not _WISH.search(fact.text):
        return False
    reader = tools.reader
    vector = (await tools.local.embed([fact.text])).vectors[0]
    near = nearest(reader, tools.local.fingerprint, vector, _NEAREST)
    worded = [memory for memory, _ in lexical(reader, fact.text)[:_NEAREST]]
    texts = [*shown, *(str(row[_TEXT]) for row in reader.rows({*near, *worded}).values())]
    wished, *known = (await tools.local.embed([_telling(text) for text in (fact.text, *texts)])).vectors
    return any(_alike(text, fact.text, float(wished @ other)) for text, other in zip(texts, known, strict=True))


def _alike(text: str, wish: str, cosine: float) -> bool:
    """Whether `wish` is `text` in other words: no number is new, and both forbid or neither does."""
    if not _numbers(wish) <= _numbers(text) or bool(_AGAINST.search(wish)) != bool(_AGAINST.search(text)):
        return False
    if respelled(wish, text):
        return False
    return cosine >= ALIKE or (cosine >= AKIN and _covers([wish], text) >= MOST)


def _telling(text: str) -> str:
    """Leave out the words that say who wants a thing."""
    return " ".join(word for word in words(text) if not (word.lower() in STOPWORDS or stem(word.lower()) in _FRAME))


def _says(texts: Sequence[str], text: str, share: float) -> bool:
    """Whether `texts` hold `share` of the telling words of `text`, all of its numbers, and its names to the letter."""
    whole = " ".join(texts)
    return _covers(texts, text) >= share and _numbers(text) <= _numbers(whole) and not respelled(text, whole)


def _twins(text: str, other: str) -> bool:
    """Whether two texts say the same in nearly the same words, neither much more than the other."""
    return _says([text], other, TOGETHER) and _says([other], text, TOGETHER)


def _numbers(text: str) -> set[str]:
    return set(_NUMBER.findall(text))


def _covers(texts: Sequence[str], text: str) -> float:
    """Return the share of the telling words of `text` that `texts` hold."""
    telling = stems(text) - _FRAME or stems(text)
    held = frozenset[str]().union(*map(stems, texts))
    return len(telling & held) / len(telling) if telling else 1.0
