"""The turn task: what a user's own words, or a summary of a session, state for good → facts."""

import re
from collections.abc import Iterator, Mapping
from itertools import accumulate, pairwise
from typing import Any

from memman.llm.builtin.classify import importance
from memman.llm.builtin.entities import entities
from memman.llm.builtin.markdown import blocks
from memman.llm.builtin.moment import asking, doubted, guessing, passing, polite, stated
from memman.llm.builtin.split import MAX_CHARS, sentences
from memman.llm.builtin.standing import Kept, standing
from memman.llm.builtin.summary import summary
from memman.model.records import DEFAULT_IMPORTANCE

_JUDGED = 4_000  # characters from either end of what was said; a longer one is a document
MAX_FACTS = 8  # of one turn; who says more at once is writing a document
# How a summary tells what a user wants for good. What they want done is the task.
_ATTRIBUTED = re.compile(
    r"\b(?:user|developer)s?(?:'s)? (?:has |had |also |explicitly |clearly |strongly )*(?:prefer(?:s|red|ences?)?"
    r"|dislikes?|hates?|decided|chose|insist(?:s|ed)?|corrected|settled on|always wants?|never wants?"
    r"|(?:does not|doesn't) want|wants? (?:all|every|no)\b|(?:asked|told) (?:\w+ ){0,3}?to (?:always|never|stop))\b",
    re.IGNORECASE,
)


def turn(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer {"facts": [...], "statements": [...]}.

    Facts are what the user corrected, preferred or decided, as said; mostly nothing. Statements are all that the user
    states: no question, guess or matter of the moment.
    """
    own = [_fact(found, "user") for found in _standing(payload["user"])]
    told = [_fact(found, "agent") for found in _attributed(payload["summary"])]
    facts = list({fact["text"]: fact for fact in own + told}.values())[:MAX_FACTS]
    return {"facts": facts, "statements": [_fact(found, "user") for found in _statements(payload["user"])]}


def _sentences(said: str) -> Iterator[str]:
    """Yield the sentences short enough to be judged, '' in place of the others."""
    for block in blocks(said):
        for sentence in sentences(block.text) if block.kind != "code" else ():
            yield sentence if len(sentence) <= MAX_CHARS else ""


def _outer(said: list[str]) -> list[str]:
    """Leave out the middle of what is too long to be judged."""
    upto = list(accumulate(map(len, said)))
    return [one if end <= _JUDGED or upto[-1] - end < _JUDGED else "" for one, end in zip(said, upto, strict=True)]


def _standing(said: str) -> Iterator[Kept]:
    before = ""
    for sentence, after in pairwise((*_outer(list(_sentences(said))), "")):
        found = standing(sentence, before)
        if found and not doubted(after):
            yield found
        before = sentence


def _statements(said: str) -> Iterator[Kept]:
    for sentence in _outer(list(_sentences(said))):
        text = stated(polite(sentence))
        if text and not (asking(text) or guessing(text) or passing(text, 0, offered=False)):
            yield Kept(text, "fact")


def _attributed(summary: str) -> Iterator[Kept]:
    for sentence in _sentences(summary):
        found = _ATTRIBUTED.search(sentence)
        if found and not (asking(sentence) or guessing(sentence) or passing(sentence, found.start(), offered=False)):
            yield Kept(sentence, "fact")


def _fact(found: Kept, speaker: str) -> dict[str, Any]:
    return {
        "text": found.text,
        "category": found.category,
        "importance": max(DEFAULT_IMPORTANCE, importance(found.text)),
        "entities": entities(found.text),
        "keywords": [],
        "summary": summary(found.text),
        "speaker": speaker,
    }
