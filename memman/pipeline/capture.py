"""What an agent's turn or the summary of its session leaves behind. Precision first: mostly nothing."""

import asyncio
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from memman.judge.judge import Judge
from memman.llm.builtin.split import asks
from memman.llm.builtin.turn import worth
from memman.model.errors import Refused
from memman.model.noted import parted
from memman.model.records import Fact, Hints, Note, Request
from memman.model.vocabulary import CATEGORIES
from memman.pipeline.about_shown import about, together
from memman.pipeline.comparison import stems
from memman.pipeline.deobfuscate import plain
from memman.pipeline.facts import FIELDS, borne_out, distinct, fact, listing, summed_up
from memman.pipeline.fidelity import faithful, original, parsed
from memman.pipeline.known import news
from memman.pipeline.noted import Said, bears_on, said_by
from memman.pipeline.passages import heard
from memman.pipeline.plan import Tools
from memman.pipeline.prompts import digest, prompt, quoted
from memman.pipeline.replies import listed
from memman.pipeline.speech import continued, prose
from memman.pipeline.trust import told

# Facts of one turn.
MAX_FACTS = 8
# Statements of one turn that are looked at.
MAX_STATEMENTS = 64
# Characters of either side that a model is shown, about 2,000 tokens: own words are seldom more.
HEARD = 8_000
# What was said of the moment is dropped: the judge finds it, and what a model made of it, worth less.
WORTH = 0.05
# A model is asked about a turn in which something is this likely worth keeping: of 450 turns by nine writers that hold
# something 98 % are, of 450 others 13 % (docs/adr/0038).
LIKELY = 0.3
# What a fact shares this part of its words with says it, too, or more.
SAID = 0.5
_NO_HINTS = Hints()
_MARKS = ".,:;!?'\"`()[]{}<>*"
_SIGNS = frozenset("_@/:+~.-=$%#0123456789")

# What is only of now is not kept of a turn.
_KEPT_CATEGORIES = [category for category in CATEGORIES if category != "context"]
SCHEMA = listing(
    FIELDS
    | {
        "speaker": {"type": "string", "enum": ["user", "agent"]},
        "category": {"type": "string", "enum": _KEPT_CATEGORIES},
    },
    MAX_FACTS,
)
_SCHEMA_TEXT = json.dumps(SCHEMA)


def version(tools: Tools) -> str:
    """Say what the outcome depends on beside note and model."""
    return digest(prompt("turn"), _SCHEMA_TEXT, tools.capture)


@dataclass(frozen=True, slots=True)
class Heard:
    """What was said in a turn, pasted and injected text left out. Of a compaction there is only the summary.

    Of the `unclear` passages of what the user typed the judge is not sure that they wrote them.
    """

    user: str = ""
    agent: str = ""
    summary: str = ""
    unclear: tuple[str, ...] = ()

    @classmethod
    def of(cls, note: Note, judge: Judge | None = None) -> "Heard":
        """Listen to a turn or a summary."""
        text = plain(note.text)
        if note.channel == "compact":
            return cls(summary=prose(text)[:HEARD])
        said, summary = continued(text)
        user, unclear = heard(judge, said)
        reply, _ = parted(note.reply)
        return cls(user[:HEARD], prose(plain(reply))[:HEARD], prose(summary)[:HEARD], unclear)

    @property
    def typed(self) -> str:
        """What the user typed, but asked, a sentence a paragraph."""
        return "\n\n".join(one.text for one in parsed(self.user) if not asks(one.text))

    @property
    def stated(self) -> str:
        """What of it they surely said themselves."""
        return "\n\n".join(one.text for one in parsed(self.user) if not (asks(one.text) or self.doubts(one.text)))

    def doubts(self, text: str) -> bool:
        """Whether a text holds, or is part of, what the user may not have written."""
        return any(passage in text or text in passage for passage in self.unclear)

    @property
    def everything(self) -> str:
        """What anybody said."""
        return f"{self.user}\n\n{self.agent}\n\n{self.summary}"

    def request(self, note: Note) -> Request:
        """Put the question."""
        parts = {"user": self.user, "agent": self.agent, "summary": self.summary}
        return Request(
            task="turn",
            role="fast",
            system=prompt("turn"),
            user="\n".join(quoted(tag, text) for tag, text in parts.items() if text),
            schema=SCHEMA,
            payload=parts,
            note=note,
        )


async def capture(tools: Tools, note: Note) -> tuple[Fact, ...]:
    """Return what is worth keeping of a turn or a summary and was not known before."""
    heard = await asyncio.to_thread(Heard.of, note, tools.judge)
    if tools.capture == "off" or heard == Heard():
        return ()
    found = await _found(tools, note, heard)
    found = await asyncio.to_thread(_unnoted, tools, note, heard, found) if note.reply else found
    return await news(tools, note, tuple(_typed(one) if heard.doubts(one.text) else one for one in found))


def _unnoted(tools: Tools, note: Note, heard: Heard, found: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Leave out what the agent noted of the turn: a line that the user's words bear out takes its place."""
    judge = tools.judge
    if not (judge and found):
        return found
    said = Said((heard.user,), beside=heard.agent)
    lines = [line for line, _, _ in parted(note.reply)[1] if said_by(tools, note, said, line)]
    return tuple(one for one in found if not any(bears_on(judge, line, one.text) for line in lines))


async def _found(tools: Tools, note: Note, heard: Heard) -> tuple[Fact, ...]:
    """Ask the model, where the judge finds that there may be something; what it refuses, the built-in model answers."""
    request = heard.request(note)
    asked_itself = tools.llm.provider == tools.builtin.provider
    judged = (await tools.builtin.complete(request)).data
    found = _facts(judged)
    statements = [fact(item, _NO_HINTS) for item in listed(judged, "statements", MAX_STATEMENTS)]
    # What the user says of a memory is kept in their words, whatever a model makes of it.
    statements = [one for one in statements if one.text]
    answers = _cut(await about(tools, note, statements), found)
    if not found:
        answers = together(tools.judge, statements, answers)
    ruled = _beside(found, answers)
    if asked_itself or not (ruled or await _likely(tools, heard)):
        return ruled
    try:
        facts = _borne_out(tools, (await tools.llm.complete(request)).data, heard)
    except Refused:
        return ruled
    if tools.capture in {"corrections", "ask"}:
        facts = tuple(one for one in facts if one.typed or not one.source) or ruled
    return _beside(facts, answers)


async def _likely(tools: Tools, heard: Heard) -> bool:
    """Whether the judge finds that something may be worth keeping, of what the agent says only where that is kept.

    What agents find out it knows less well: a model that is not sparing is asked about all that they say.
    """
    if tools.judge is None or (tools.capture == "turns" and not tools.sparing):
        return True
    said = (heard.user, heard.summary, heard.agent if tools.capture == "turns" else "")
    return any([await asyncio.to_thread(worth, text, tools.judge) >= LIKELY for text in said if text])


def _cut(answers: tuple[Fact, ...], ruled: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Put what the judge kept of an answer in its place: without "remember that", with the sentence it leans on."""
    said = [fact for fact in ruled if not fact.source]
    cut = [next((fact for fact in said if fact.text in one.text or one.text in fact.text), one) for one in answers]
    return tuple({one.text: one for one in cut}.values())


def _beside(facts: tuple[Fact, ...], answers: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Put `answers` in place of those `facts` that say less, and beside the others."""
    said = [stems(one.text) for one in answers]
    rest = (
        one for one in facts if not any(len(stems(one.text) & words) >= SAID * len(stems(one.text)) for words in said)
    )
    return (*answers, *rest)


def _facts(data: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return what the built-in model found: it quotes, and says whom."""
    items = listed(data, "facts", MAX_FACTS)
    return _stated(one if item["speaker"] == "user" else told(one) for item in items if (one := fact(item, _NO_HINTS)))


def _borne_out(tools: Tools, data: Mapping[str, Any], heard: Heard) -> tuple[Fact, ...]:
    """Return what a model found, as it was said, each stamped with who said it, whatever the model claims."""
    items = ((fact(item, _NO_HINTS), item.get("speaker")) for item in listed(data, "facts", MAX_FACTS))
    lasting = ((one, speaker) for one, speaker in items if one.text and _lasting(tools, one.text, heard))
    return _stated(kept for one, speaker in lasting if (kept := _attributed(one, speaker, heard)))


def _stated(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    return distinct(one for one in facts if not asks(one.text))


def _lasting(tools: Tools, text: str, heard: Heard) -> bool:
    """Whether a fact, or what it was made of, is worth keeping at all: not the task, nor how far the work has come."""
    read = filter(None, (text, original(text, heard.everything)))
    return tools.judge is None or any(tools.judge.lines([one])[0][0] >= WORTH for one in read)


def _attributed(one: Fact, speaker: object, heard: Heard) -> Fact | None:
    """Return a fact as somebody said it; None where nobody did.

    What the user stated is theirs, but what they may have pasted. Where a model misquotes them their own sentence is
    kept, unless it names what only the agent's words hold.
    """
    quoted = speaker == "user" and not _lent(one.text, heard)
    kept = borne_out(one, heard.typed) if quoted or faithful(one.text, heard.stated) else None
    kept = kept or borne_out(one, heard.everything)
    kept = kept and summed_up(kept, heard.everything)
    if kept is None or faithful(kept.text, heard.stated):
        return kept
    return _typed(kept) if faithful(kept.text, heard.typed) else told(kept)


def _typed(one: Fact) -> Fact:
    """Return a fact as what the user typed or pasted."""
    return replace(told(one), typed=True)


def _lent(text: str, heard: Heard) -> bool:
    """Whether a text names what is in the agent's words alone."""
    theirs = heard.user.casefold()
    others = f"{heard.agent}\n{heard.summary}".casefold()
    return any(name in others and name not in theirs for name in _names(text))


def _names(text: str) -> Iterable[str]:
    """Yield what names a thing to the letter: it has a digit, a sign or a capital within."""
    words = (word.strip(_MARKS) for word in text.split())
    return (word.casefold() for word in words if word[1:] != word[1:].lower() or not _SIGNS.isdisjoint(word))
