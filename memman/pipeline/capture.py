"""What a turn or the summary of its session leaves behind. Precision first: mostly nothing."""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

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
    if not (settled or ruled) and (instead := await asyncio.to_thread(correction, tools.judge, note, heard.spoken)):
        return instead
    return await news(tools, note, (*settled, *found))


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


async def watch(tools: Tools, note: Note) -> tuple[tuple[Fact, ...], str]:
    """Listen to a turn of a session whose agent notes what it is told.

    Keep what ends a memory, and what else is worth it where none of the agent's lines is what the user said. Return it
    with what of a turn without a line seems worth one; '' for nothing.
    """
    heard = await asyncio.to_thread(Heard.of, note, tools.judge)
    if tools.capture == "off" or not heard.user:
        return (), ""
    judged = (await tools.builtin.complete(heard.request(note))).data
    worthy = tuple(one for one in _facts(judged) if not (one.source or heard.doubts(one.text)))
    ended = await _ended(tools, note, heard, judged)
    spoken = heard.spoken
    if lines := _lines(note):
        told = await asyncio.to_thread(lambda: any(said_by(tools, note, spoken, line) for line in lines))
        instead = () if told or worthy or ended else await asyncio.to_thread(correction, tools.judge, note, spoken)
        found = ended if told else distinct((*worthy, *ended, *instead))
        return await asyncio.to_thread(_unnoted, tools, note, heard, found), ""
    ended = ended or await asyncio.to_thread(correction, tools.judge, note, spoken)
    return ended, "" if ended else next((said(one.text) for one in worthy), "")


async def _ended(tools: Tools, note: Note, heard: Heard, judged: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return what the user said that surely ends a memory."""
    mine = [one for one in _statements(judged) if not heard.doubts(one.text)]
    ended = await endings(tools, note, mine, surely=True)
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
    # What is probably pasted is nobody's word; it is kept where the message looks typed, or where it is about a memory.
    # People type short messages, in one paragraph, without an indented line.
    typed = len(heard.user) <= BREATH and not re.search(r"\n[ \t]*\n|\n[ \t]", heard.user.strip())
    found = [one for one in _facts(judged) if typed or not heard.doubts(one.text)]
    answers = _whole(tools, heard, await endings(tools, note, _statements(judged)))
    found += [one for one in answers if not any(one.text in other.text for other in found)]
    return distinct(told_by_agent(one) if heard.doubts(one.text) else one for one in found)


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


def _statements(data: Mapping[str, Any]) -> list[Fact]:
    """Return all that the user stated."""
    statements = (fact(item, _NO_HINTS) for item in listed(data, "statements", MAX_STATEMENTS))
    return [one for one in statements if one.text]


def _facts(data: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Return what the built-in model found: it quotes, and says whom."""
    found = ((fact(item, _NO_HINTS), item["speaker"]) for item in listed(data, "facts", MAX_FACTS))
    return distinct(one if speaker == "user" else told_by_agent(one) for one, speaker in found if not asks(one.text))


# An order may be the task of this turn: it is kept where it so probably ends a memory that was shown and is worth this,
# or so surely ends another, for an agent may have looked that up by itself. Where the agent notes what it is told, only
# what surely ends a memory, and is worth as much, is kept beside that.
ENDS, LEAST, ENDED = 0.15, 0.05, 0.5
# Memories, shown and others, that the judge compares a statement with: those that speak of most nearly the same.
ASKED = 2
# Characters of a turn that is judged as one statement too: people turn a rule round in two or three sentences.
WHOLE = 300

# A memory's text and category.
Known = tuple[str, str]


async def endings(tools: Tools, note: Note, statements: Sequence[Fact], *, surely: bool = False) -> tuple[Fact, ...]:
    """Return those of a user's `statements` that the judge finds to end a memory, each of that one's category."""
    rows = tools.reader.rows(tools.reader.located(note.shown))
    shown = {memory: (row.text, row.category) for memory, row in rows.items()}
    texts = [one.text for one in statements]
    vectors = (await tools.local.embed(texts)).vectors
    await asyncio.to_thread(tools.judge.about, texts)  # remembered, and cheaper together
    kept = list[Fact]()
    for one, vector in zip(statements, vectors, strict=True):
        others = [(other.text, other.category) for other in find(tools, note, one, vector)[:ASKED]]
        kept += await asyncio.to_thread(_ending, tools.judge, one, _closest(tools, one.text, shown), others, surely)
    if not (kept or surely) and shown and len(statements) > 1 and len(together := " ".join(texts)) <= WHOLE:
        whole = replace(statements[0], text=together)
        kept += await asyncio.to_thread(_ending, tools.judge, whole, _closest(tools, together, shown), (), surely)
    return tuple(kept)


def _closest(tools: Tools, text: str, shown: Mapping[int, Known]) -> list[Known]:
    """Return the shown memories that speak of most nearly the same as `text`."""
    near = alike(tools.reader, tools.judge, text, shown)
    return [shown[memory] for memory in sorted(near, key=lambda memory: -near[memory])[:ASKED]]


def _ending(
    judge: Judge, statement: Fact, shown: Sequence[Known], others: Sequence[Known], surely: bool
) -> Sequence[Fact]:
    """Return a statement, of the category of the memory that it ends, if it ends one."""
    judged = judge.relations([(text, statement.text) for text, _ in (*shown, *others)])
    least = [ENDED if surely else ENDS] * len(shown) + [ENDED] * len(others)
    near = zip((*shown, *others), judged, least, strict=True)
    ended = [category for (_, category), relation, enough in near if relation.ends >= enough]
    worthy = ended and judge.lines([statement.text])[0][0] >= (ENDED if surely else LEAST)
    return [replace(statement, category=ended[0])] if worthy else []
