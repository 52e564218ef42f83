"""Recalled text is no news: a memory that was shown, or is stored, is not learned again from its echo."""

import re
from collections.abc import Sequence

from memman.model.records import Fact, Note, Request
from memman.model.terms import stem
from memman.pipeline.candidates import lexical
from memman.pipeline.plan import Tools
from memman.pipeline.words import stems
from memman.store.protocols import Reader

# A memory that holds this part of a fact's telling words says it already.
SAME = 0.6
# Several memories together say it from here on.
TOGETHER = 0.8
# Stored memories that an agent's fact is compared with, best match first.
_NEAREST = 8
_TEXT = 3  # column of a row
# Words that tell who said or wants a thing, not what.
_FRAME = frozenset(
    map(
        stem,
        """user developer team prefer preference want like always never please use using used should must say said
        ask decide decided agreed note remember memory recall recalled noted mentioned earlier""".split(),
    )
)
# By these words a user changes what is known; who repeats it does not need them.
_CHANGING = re.compile(
    r"^(?:no|nope|wrong|actually)\b|\b(?:instead|not|never|no longer|any ?more|back to|back on|from now on|now|wrong"
    r"|stop|changed|switched|moved|reverted)\b",
    re.IGNORECASE,
)


async def news(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Leave out the facts that only repeat what the session was shown, or, said by an agent, what is stored."""
    if not facts:
        return ()
    reader = tools.reader
    shown = [str(row[_TEXT]) for row in reader.rows(reader.located(note.shown)).values()] if note.shown else []
    return tuple([one for one in facts if not await _known(tools, one, shown)])


async def _known(tools: Tools, fact: Fact, shown: Sequence[str]) -> bool:
    same = [text for text in shown if _covers([text], fact.text) >= SAME]
    if not fact.source:
        return bool(same) and not await _changes(tools, fact, same)
    return bool(same) or _covers(shown, fact.text) >= TOGETHER or held(tools.reader, fact) is not None


def held(reader: Reader, fact: Fact) -> int | None:
    """Return the stored memory that says what an agent's fact says, one that is out of date too."""
    found = [memory for memory, _ in lexical(reader, fact.text)[:_NEAREST]] if fact.source else []
    rows = reader.rows(found)
    return next((memory for memory in found if _covers([rows[memory][_TEXT]], fact.text) >= SAME), None)


async def _changes(tools: Tools, fact: Fact, same: Sequence[str]) -> bool:
    """Whether the user's own words change what a memory says rather than repeat it."""
    if _CHANGING.search(fact.text) and not any(_CHANGING.search(text) for text in same):
        return True
    memories = [
        {"n": n, "text": text, "category": "fact", "entities": [], "similarity": 1.0, "age_days": 0.0}
        for n, text in enumerate(same)
    ]
    asked = {"n": 0, "text": fact.text, "category": fact.category, "entities": list(fact.entities)}
    request = Request("reconcile", "slow", "", "", {}, {"facts": [asked], "memories": memories})
    verdicts = (await tools.rules.complete(request)).data["verdicts"]
    return any(verdict["action"] != "NONE" for verdict in verdicts)


def _covers(texts: Sequence[str], text: str) -> float:
    """Return the share of the telling words of `text` that `texts` hold."""
    telling = stems(text) - _FRAME or stems(text)
    held = frozenset[str]().union(*map(stems, texts))
    return len(telling & held) / len(telling) if telling else 1.0
