"""What a turn or the summary of its session leaves behind. Precision first: mostly nothing."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from memman.embed.base import Vectors
from memman.judge.judge import Judge
from memman.llm.builtin.extract import described
from memman.llm.builtin.split import asks
from memman.llm.builtin.turn import BREATH, whole, worth
from memman.model.errors import Refused
from memman.model.noted import parted
from memman.model.records import Fact, Hints, Note
from memman.model.text import said
from memman.pipeline.candidates import find
from memman.pipeline.comparison import parsed
from memman.pipeline.conversation import SCHEMA_TEXT, Turn
from memman.pipeline.heard import Heard, answered
from memman.pipeline.known import news
from memman.pipeline.objection import correction
from memman.pipeline.plan import Tools
from memman.pipeline.prompts import digest, prompt
from memman.pipeline.replies import distinct, fact, listed
from memman.pipeline.trust import ABOUT, covers, said_by
from memman.pipeline.trust import told as told_by_agent
from memman.pipeline.vectors import alike

# Facts of one turn.
MAX_FACTS = 8
# Statements of one turn that are looked at.
MAX_STATEMENTS = 64
# A model is asked about a conversation where in a turn of it something is this likely worth keeping: so are 98 % of
# 450 turns by nine writers that hold something, of 450 others 13 % (docs/adr/0038).
LIKELY = 0.3
# The agent's sentence that takes up an answer is kept where it is worth this to the judge.
SETTLED = 0.6
_NO_HINTS = Hints()


def version(tools: Tools) -> str:
    """Say what the outcome depends on beside note and model."""
    return digest(prompt("conversation"), SCHEMA_TEXT, tools.capture)


async def capture(tools: Tools, note: Note) -> tuple[Fact, ...]:
    """Return what is worth keeping of a turn or a summary and was not known before."""
    heard = await asyncio.to_thread(Heard.of, note, tools.judge)
    if tools.capture == "off" or heard == Heard():
        return ()
    if tools.conversations and tools.llm.provider != tools.builtin.provider:
        turn = Turn(note, heard, partial(_likely, tools, note, heard))
        with suppress(Refused):
            if (facts := await tools.conversations.facts(tools, turn)) is not None:
                return await news(tools, note, facts)
    ruled = await _found(tools, note, heard)
    found = await asyncio.to_thread(_unnoted, tools, note, heard, ruled) if note.reply else ruled
    settled = await asyncio.to_thread(_settled, tools, note, heard)
    if not (settled or ruled) and (instead := await asyncio.to_thread(_instead, tools, note, heard)):
        return instead
    return await news(tools, note, (*settled, *found))


def _instead(tools: Tools, note: Note, heard: Heard) -> tuple[Fact, ...]:
    """Return what the user said in place of a line that they object to."""
    one = correction(tools.judge, note, heard.spoken)
    return (one,) if one else ()


def _settled(tools: Tools, note: Note, heard: Heard) -> tuple[Fact, ...]:
    """Return what a short answer to the agent's question settled, in the sentence with which the agent takes it up."""
    judge, spoken = tools.judge, heard.spoken
    if not spoken.question:
        return ()
    told = [one.text for one in parsed(heard.agent) if not asks(one.text)][:MAX_STATEMENTS]
    if not told:
        return ()
    mine, *others = judge.about([f"{spoken.question} {heard.user}", *told])
    read = zip(told, judge.lines(told), (float(mine @ other) for other in others), strict=True)
    worthy = [(near, text, kind) for text, (worth, kind), near in read if worth >= SETTLED and near >= ABOUT]
    if not worthy:
        return ()
    _, text, kind = max(worthy)
    if not spoken.taken_up(text).question:
        return ()
    one = fact(described(text, kind), _NO_HINTS)
    return (one if said_by(tools, note, spoken, text) else told_by_agent(one),)


async def watch(tools: Tools, note: Note) -> tuple[Fact, ...]:
    """Listen to a turn of a session whose agent notes what it is told.

    Keep what ends a memory, and what else is worth it where none of the agent's lines is what the user said.
    """
    heard = await asyncio.to_thread(Heard.of, note, tools.judge)
    if tools.capture == "off" or not heard.user:
        return ()
    judged = (await tools.builtin.complete(heard.request(note))).data
    worthy = tuple(one for one in _facts(judged) if not (one.source or heard.doubts(one.text)))
    ended = await _ended(tools, note, heard, judged)
    if lines := _lines(note):
        spoken = heard.spoken
        told = await asyncio.to_thread(lambda: any(said_by(tools, note, spoken, line) for line in lines))
        instead = () if told or worthy or ended else await asyncio.to_thread(_instead, tools, note, heard)
        found = ended if told else distinct((*worthy, *ended, *instead))
        return await asyncio.to_thread(_unnoted, tools, note, heard, found)
    return ended or await asyncio.to_thread(_instead, tools, note, heard) or await news(tools, note, worthy)


async def _ended(tools: Tools, note: Note, heard: Heard, judged: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return what the user said that surely ends a memory."""
    statements = [fact(item, _NO_HINTS) for item in listed(judged, "statements", MAX_STATEMENTS)]
    ended = await endings(tools, note, [one for one in statements if one.text and not heard.doubts(one.text)])
    return distinct(_whole(tools, heard, ended))


def _unnoted(tools: Tools, note: Note, heard: Heard, found: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Leave out what the agent noted of the turn: its line takes the place of what it says, and of nothing else."""
    judge = tools.judge
    if not found:
        return found
    spoken = heard.spoken
    lines = [(line, said_by(tools, note, spoken, line)) for line in _lines(note)]

    def noted(text: str) -> bool:
        return any(covers(judge, line, text, sure=sure) for line, sure in lines)

    return tuple(one for one in found if not noted(said(one.text)))


def _lines(note: Note) -> list[str]:
    """Return what the agent noted of a turn."""
    return [line for line, _, _ in parted(answered(note.reply)[1])[1]]


async def _found(tools: Tools, note: Note, heard: Heard) -> tuple[Fact, ...]:
    """Return what the judge finds worth keeping in a turn that it reads by itself."""
    judged = (await tools.builtin.complete(heard.request(note))).data
    found = _facts(judged)
    statements = [fact(item, _NO_HINTS) for item in listed(judged, "statements", MAX_STATEMENTS)]
    statements = [one for one in statements if one.text]
    answers = [
        told_by_agent(one) if heard.doubts(one.text) else one
        for one in _whole(tools, heard, await about(tools, note, statements))
    ]
    # What is probably pasted is nobody's word; it is kept where the message looks typed, or where it is about a memory.
    # People type short messages, in one paragraph, without an indented line.
    typed = len(heard.user) <= BREATH and not re.search(r"\n[ \t]*\n|\n[ \t]", heard.user.strip())
    found = tuple(
        told_by_agent(one) if heard.doubts(one.text) else one for one in found if typed or not heard.doubts(one.text)
    )
    return distinct((*found, *(one for one in answers if not any(one.text in other.text for other in found))))


async def _likely(tools: Tools, note: Note, heard: Heard) -> bool:
    """Whether the judge finds that something may be worth keeping, of what the agent says only where that is kept.

    What agents find out it knows less well: a model that is not sparing is asked about all that they say.
    """
    if tools.capture == "turns" and not tools.sparing:
        return True
    said = (heard.user, heard.summary, heard.agent if tools.capture == "turns" else "")
    likely = any([await asyncio.to_thread(worth, text, tools.judge) >= LIKELY for text in said if text])
    return likely or bool(await _found(tools, note, heard))


def _whole(tools: Tools, heard: Heard, statements: Iterable[Fact]) -> Iterator[Fact]:
    """Yield statements with what stands around them."""
    return (replace(one, text=whole(heard.user, one.text, heard.before, tools.judge)) for one in statements)


def _facts(data: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return what the built-in model found: it quotes, and says whom."""
    found = ((fact(item, _NO_HINTS), item["speaker"]) for item in listed(data, "facts", MAX_FACTS))
    return distinct(one if speaker == "user" else told_by_agent(one) for one, speaker in found if not asks(one.text))


# Cosines (docs/adr/0036) from which on a statement is about a memory that was shown, and of its kind: a preference or a
# decision too; and about one that was not, for an agent may have looked that up by itself.
NEAR, KIN, CLOSE = 0.5, 0.65, 0.8
# An order may be the task of this turn: it is kept where it seems to end what a memory says, or worth keeping at all.
ENDS, WORTH = 0.15, 0.6
# A task is worth less than this, whatever it seems to end.
LEAST = 0.05
# Where the agent notes what it is told, only what ends a memory so probably, and is worth this, is kept beside that.
ENDED = 0.5
# Shown memories that the judge compares a statement with: those that speak of most nearly the same.
ASKED = 2
# Characters of a turn that is judged as one statement too: people turn a rule round in two or three sentences.
WHOLE = 300

# A memory's text and category.
Shown = tuple[str, str]


async def about(tools: Tools, note: Note, statements: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return those of a user's `statements` that are about what is stored, a close one of the memory's category."""
    if not statements:
        return ()
    rows = tools.reader.rows(tools.reader.located(note.shown))
    shown = {memory: (row.text, row.category) for memory, row in rows.items()}
    texts = [*(one.text for one in statements), *(text for text, _ in shown.values())]
    vectors = (await tools.local.embed(texts)).vectors
    said, known = vectors[: len(statements)], vectors[len(statements) :]
    closest: dict[str, list[Shown]] = {}
    if shown:
        # Read together, beside the event loop; what is asked below is remembered.
        await asyncio.to_thread(tools.judge.about, [one.text for one in statements])
        closest = {one.text: _closest(tools, tools.judge, one.text, shown) for one in statements}
        pairs = [(text, said) for said, memories in closest.items() for text, _ in memories]
        await asyncio.to_thread(tools.judge.relations, pairs)
    kept = []
    for one, vector, near in zip(statements, said, said @ known.T, strict=True):
        found = _about(tools, one, near, [*shown.values()]) or _about(tools, one, *_stored(tools, note, one, vector))
        kept.append(found or (_ending(tools.judge, one, closest[one.text]) if shown else None))
    mine = [one for one in kept if one]
    whole = replace(statements[0], text=" ".join(one.text for one in statements))
    if mine or len(statements) == 1 or not shown or len(whole.text) > WHOLE:
        return tuple(mine)
    ending = _ending(tools.judge, whole, _closest(tools, tools.judge, whole.text, shown))
    return (ending,) if ending else ()


async def endings(tools: Tools, note: Note, statements: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return those `statements` that the judge finds to end a memory, shown or nearly about the same."""
    judge = tools.judge
    if not statements:
        return ()
    rows = tools.reader.rows(tools.reader.located(note.shown))
    shown = {memory: (row.text, row.category) for memory, row in rows.items()}
    vectors = (await tools.local.embed([one.text for one in statements])).vectors
    kept = []
    for one, vector in zip(statements, vectors, strict=True):
        near = _closest(tools, judge, one.text, shown) if shown else []
        near += [(other.text, other.category) for other in find(tools, note, one, vector)[:ASKED]]
        judged = judge.relations([(text, one.text) for text, _ in near])
        ended = [category for (_, category), relation in zip(near, judged, strict=True) if relation.ends >= ENDED]
        kept += [replace(one, category=ended[0])] if ended and judge.lines([one.text])[0][0] >= ENDED else []
    return tuple(kept)


def _ending(judge: Judge, statement: Fact, memories: Sequence[Shown]) -> Fact | None:
    """Return a statement, of the memory's category, where the judge finds that it may end one of `memories`."""
    judged = judge.relations([(text, statement.text) for text, _ in memories])
    ended = [category for (_, category), one in zip(memories, judged, strict=True) if one.ends >= ENDS]
    worthy = ended and judge.lines([statement.text])[0][0] >= LEAST
    return replace(statement, category=ended[0]) if worthy else None


def _closest(tools: Tools, judge: Judge, text: str, shown: Mapping[int, Shown]) -> list[Shown]:
    """Return the shown memories that speak of most nearly the same as `text`."""
    near = alike(tools.reader, judge, text, shown)
    return [shown[memory] for memory in sorted(near, key=lambda memory: -near[memory])[:ASKED]]


def _stored(tools: Tools, note: Note, statement: Fact, vector: Vectors) -> tuple[Vectors, list[tuple[str, str]]]:
    """Return the cosines, texts and categories of the stored memories that say nearly the same."""
    near = [one for one in find(tools, note, statement, vector) if one.similarity >= CLOSE]
    return np.array([one.similarity for one in near]), [(one.text, one.category) for one in near]


def _about(tools: Tools, statement: Fact, cosines: Vectors, memories: Sequence[tuple[str, str]]) -> Fact | None:
    """Return a statement as it is kept, None where it is about none of these memories."""
    n = int(np.argmax(cosines)) if len(cosines) else -1
    if n < 0 or cosines[n] < NEAR:
        return None
    text, category = memories[n]
    ((worth, _),) = tools.judge.lines([statement.text])
    if worth < (WORTH if tools.judge.relation(text, statement.text).ends < ENDS else LEAST):
        return None
    return replace(statement, category=category) if cosines[n] >= KIN else statement
