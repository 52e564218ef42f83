"""Recalled text is no news: a memory that was shown, or is stored, is not learned again from its echo."""

import re
from collections.abc import Sequence
from dataclasses import replace

from memman.judge.judge import Relation
from memman.llm.builtin.split import extent, sentences
from memman.model.records import Candidate, Fact, Note
from memman.model.terms import respelled, stem
from memman.model.vocabulary import LOW_TRUST
from memman.pipeline.cached_terms import stems
from memman.pipeline.candidates import lexical
from memman.pipeline.judged import nearest as judged_near
from memman.pipeline.plan import Tools
from memman.pipeline.trust import lowest, source
from memman.store.protocols import Reader

# A memory that holds this part of a fact's telling words says it already.
SAME = 0.6
# Several memories together say it from here on.
TOGETHER = 0.8
# In other words it is said by a memory that the judge finds as probably the same, or less.
REPHRASED = 0.25
# What as probably ends a memory is news, however like it.
CHANGED = 0.43
# Stored memories that an agent's fact is compared with, best match first, and those shown last.
_NEAREST = 8
_SHOWN = 64
# Letters; a shorter sentence ("Done.") tells nothing.
_SAYING = 12
# Words that tell who said or wants a thing, not what.
_FRAME = frozenset(
    map(
        stem,
        """user developer team prefer preference want like always never please use using used should must say said
        ask decide decided agreed note remember memory recall recalled noted mentioned earlier""".split(),
    )
)
_NUMBER = re.compile(r"\d+")


async def news(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Leave out what an agent says that is stored, or that the session was shown. What a user says is news."""
    told = [one for one in facts if one.source]
    if not told:
        return tuple(facts)
    reader = tools.reader
    shown = [row.text for row in reader.rows(reader.located(note.shown[-_SHOWN:])).values()]
    known = {one.text for one in told if _known(tools, one, shown)}
    return tuple(one for one in facts if not (one.source and one.text in known))


def _known(tools: Tools, fact: Fact, shown: Sequence[str]) -> bool:
    if _says(shown, fact.text, TOGETHER) or _rephrased(tools, fact, shown):
        return True
    told = [text for text in sentences(fact.text) if extent(text) >= _SAYING] or [fact.text]
    parts = (replace(fact, text=text) for text in told)
    return all(any(_says([text], part.text, SAME) for text in shown) or held(tools.reader, part) for part in parts)


def whose(note: Note, fact: Fact, candidates: Sequence[Candidate]) -> str:
    """Return whose word a fact is: an agent that says in nearly the same words what low trust says hands that on."""
    mine = source(note, fact)
    read = [c for c in candidates if c.source in LOW_TRUST] if mine == "agent" else []
    return lowest(mine, *(c.source for c in read if _twins(c.text, fact.text)))


def held(reader: Reader, fact: Fact) -> int | None:
    """Return the stored memory that says what an agent's fact says, one that is out of date too."""
    found = [memory for memory, _ in lexical(reader, fact.text)[:_NEAREST]] if fact.source else []
    rows = reader.rows(found)
    return next((memory for memory in found if _says([rows[memory].text], fact.text, SAME)), None)


def _rephrased(tools: Tools, fact: Fact, shown: Sequence[str]) -> bool:
    """Whether what an agent says is known in other words."""
    judge, reader = tools.judge, tools.reader
    if judge is None:
        return False
    mine, *others = judge.about([fact.text, *shown])
    likest = sorted(zip(shown, others, strict=True), key=lambda one: -float(one[1] @ mine))[:_NEAREST]
    near = judged_near(reader, judge, fact.text, _NEAREST)
    texts = [*(text for text, _ in likest), *(row.text for row in reader.rows(near).values())]
    judged = judge.relations([(text, fact.text) for text in texts])
    return any(_alike(relation, text, fact.text) for relation, text in zip(judged, texts, strict=True))


def _alike(relation: Relation, text: str, other: str) -> bool:
    """Whether `other` is `text` in other words and no change: no number is new, and no name is spelled otherwise."""
    same = relation.same >= REPHRASED and relation.ends < CHANGED
    return same and _numbers(other) <= _numbers(text) and not respelled(other, text)


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
