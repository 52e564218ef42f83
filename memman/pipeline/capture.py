"""What an agent's turn or the summary of its session leaves behind. Precision first: mostly nothing."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from memman.model.errors import Refused
from memman.model.records import Fact, Hints, Note, Request
from memman.pipeline.about import about, together
from memman.pipeline.echo import news
from memman.pipeline.facts import FIELDS, fact, grounded, listing
from memman.pipeline.plan import Tools
from memman.pipeline.prompts import digest, prompt, quoted
from memman.pipeline.replies import listed
from memman.pipeline.speech import continued, own, prose
from memman.pipeline.trust import OWN_CATEGORIES
from memman.pipeline.unmasked import plain
from memman.pipeline.words import stems

# Facts of one turn.
MAX_FACTS = 8
# Statements of one turn that are looked at.
MAX_STATEMENTS = 64
# Characters of either side that a model is shown, about 2,000 tokens: own words are seldom more.
HEARD = 8_000
# What a model says is worth keeping is dropped where the judge finds it worth less.
WORTH = 0.05
# A fact must share this part of its words with two neighbouring sentences of who is said to have said it:
# a long prompt holds a third of the words of almost anything.
SAID = 0.5
_NO_HINTS = Hints()
_MARKS = ".,:;!?'\"`()[]{}<>*"
_SIGNS = frozenset("_@/:+~.-=$%#0123456789")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")

SCHEMA = listing(FIELDS | {"speaker": {"type": "string", "enum": ["user", "agent"]}}, MAX_FACTS)
_SCHEMA_TEXT = json.dumps(SCHEMA)


def version(tools: Tools) -> str:
    """Say what the outcome depends on beside note and model."""
    return digest(prompt("turn"), _SCHEMA_TEXT, tools.capture)


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said in a turn, pasted and injected text left out. Of a compaction there is only the summary."""

    user: str = ""
    agent: str = ""
    summary: str = ""

    @classmethod
    def of(cls, note: Note) -> "Heard":
        """Listen to a turn or a summary."""
        text = plain(note.text)
        if note.channel == "compact":
            return cls(summary=prose(text)[:HEARD])
        said, summary = continued(text)
        return cls(own(said)[:HEARD], prose(plain(note.reply))[:HEARD], prose(summary)[:HEARD])

    def request(self) -> Request:
        """Put the question."""
        parts = {"user": self.user, "agent": self.agent, "summary": self.summary}
        return Request(
            task="turn",
            role="fast",
            system=prompt("turn"),
            user="\n".join(quoted(tag, text) for tag, text in parts.items() if text),
            schema=SCHEMA,
            payload=parts,
        )


async def capture(tools: Tools, note: Note) -> tuple[Fact, ...]:
    """Return what is worth keeping of a turn or a summary and was not known before."""
    heard = Heard.of(note)
    if tools.capture == "off" or heard == Heard():
        return ()
    return await news(tools, note, await _found(tools, note, heard))


async def _found(tools: Tools, note: Note, heard: Heard) -> tuple[Fact, ...]:
    """Ask the model, for corrections only where the judge sees one; what it refuses, the built-in model answers."""
    request = heard.request()
    asked_itself = tools.llm.provider == tools.builtin.provider
    judged = (await tools.builtin.complete(request)).data
    found = _facts(judged, heard)
    statements = [fact(item, _NO_HINTS) for item in listed(judged, "statements", MAX_STATEMENTS)]
    # What the user says of a memory is kept in their words, whatever a model makes of it.
    statements = [one for one in statements if one.text]
    answers = _cut(await about(tools, note, statements), found)
    if not found:
        answers = together(tools.judge, statements, answers)
    ruled = _beside(found, answers)
    sparing = tools.capture == "corrections"
    if sparing and not ruled:
        return ()
    try:
        facts = found if asked_itself else _lasting(tools, _facts((await tools.llm.complete(request)).data, heard))
    except Refused:
        return ruled
    # Asked for corrections alone, the model may phrase what the judge found, and add nothing else.
    facts = tuple(one for one in facts if not one.source) or ruled if sparing else facts
    return _beside(facts, answers)


def _cut(answers: tuple[Fact, ...], ruled: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Put what the judge kept of an answer in its place: without "remember that", with the sentence it leans on."""
    said = [fact for fact in ruled if not fact.source]
    cut = [next((fact for fact in said if fact.text in one.text or one.text in fact.text), one) for one in answers]
    return tuple({one.text: one for one in cut}.values())


def _beside(facts: tuple[Fact, ...], answers: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Put `answers` in place of those `facts` that say less, and beside the others."""
    said = [stems(one.text) for one in answers]
    rest = (one for one in facts if not any(grounded(one.text, words, SAID) for words in said))
    return (*answers, *rest)


def _facts(data: Mapping[str, Any], heard: Heard) -> tuple[Fact, ...]:
    found = (_attributed(item, heard) for item in listed(data, "facts", MAX_FACTS))
    return tuple({one.text.casefold(): one for one in found if one and not _asks(one.text)}.values())


def _lasting(tools: Tools, facts: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Leave out what is of the moment: the task itself, and how far the work has come."""
    if tools.judge is None:
        return facts
    return tuple(one for one in facts if tools.judge.lines([one.text])[0][0] >= WORTH)


def _asks(text: str) -> bool:
    return text.rstrip().endswith(("?", "\uff1f"))


def _attributed(item: Mapping[str, Any], heard: Heard) -> Fact | None:
    """Stamp a fact with who said it, whatever the model claims; None where nobody did."""
    one = fact(item, _NO_HINTS)
    if not one.text:
        return None
    if item.get("speaker") == "user" and _stated(one.text, heard):
        return one
    if not _said(one.text, f"{heard.user}\n{heard.agent}\n{heard.summary}"):
        return None
    return replace(one, source="agent", category="fact" if one.category in OWN_CATEGORIES else one.category)


def _stated(text: str, heard: Heard) -> bool:
    """Whether the user said `text` rather than asked about it, and names it all that only the agent's words hold."""
    theirs = heard.user.casefold()
    told = f"{heard.agent}\n{heard.summary}".casefold()
    if any(name in told and name not in theirs for name in _names(text)):
        return False
    return any(grounded(text, said, SAID) for said in _windows(_sentences(heard.user, stated=True)))


def _names(text: str) -> Iterable[str]:
    """Yield what names a thing to the letter: it has a digit, a sign or a capital within."""
    words = (word.strip(_MARKS) for word in text.split())
    return (word.casefold() for word in words if word[1:] != word[1:].lower() or not _SIGNS.isdisjoint(word))


def _said(text: str, words: str) -> bool:
    """Whether two neighbouring sentences of `words` bear `text` out."""
    return any(grounded(text, said, SAID) for said in _windows(_sentences(words)))


def _sentences(words: str, *, stated: bool = False) -> list[str]:
    """Split `words`; of what is `stated`, questions are no part."""
    parts = [part for part in _SENTENCE_END.split(words) if part.strip()]
    return [part for part in parts if not _asks(part)] if stated else parts


def _windows(sentences: list[str]) -> Iterable[frozenset[str]]:
    heard = [stems(sentence) for sentence in sentences]
    yield from heard[:1]
    for first, second in pairwise(heard):
        yield first | second
