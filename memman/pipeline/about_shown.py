"""What a user says about a memory that their session was shown: it is kept, or an objection to what was noted."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import dropwhile

import numpy as np

from memman.embed import Vectors
from memman.judge.judge import Judge
from memman.model.noted import parted
from memman.model.records import Fact, Note
from memman.pipeline.candidates import find
from memman.pipeline.comparison import same, stems
from memman.pipeline.fidelity import parsed
from memman.pipeline.judged import alike
from memman.pipeline.plan import Tools

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

# An objection to what was noted is of so many words at most. Behind "no" or not it begins with one of the first; or it
# is one of the second, or only "no", and answers nothing; or begins with one of the second, about what was noted.
OBJECTING = 16
_NO = ("no", "wrong")
_UNNOTED = ("don't note", "don't keep", "that's not what i said", "i never said", "i didn't say")
_WRONG = (
    "forget that",
    "that's wrong",
    "that's not right",
    "that's not true",
    "that's not what i meant",
    "i said",
    "i meant",
)
# Memories of the session that may have been noted in the turn before.
_NOTED = 8

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
    if tools.judge and shown:
        # Read together, beside the event loop; what is asked below is remembered.
        await asyncio.to_thread(tools.judge.about, [one.text for one in statements])
        closest = {one.text: _closest(tools, tools.judge, one.text, shown) for one in statements}
        pairs = [(text, said) for said, memories in closest.items() for text, _ in memories]
        await asyncio.to_thread(tools.judge.relations, pairs)
    kept = []
    for one, vector, near in zip(statements, said, said @ known.T, strict=True):
        found = _about(tools, one, near, [*shown.values()]) or _about(tools, one, *_stored(tools, note, one, vector))
        kept.append(found or (_ending(tools.judge, one, closest[one.text]) if tools.judge and shown else None))
    mine = [one for one in kept if one]
    whole = replace(statements[0], text=" ".join(one.text for one in statements))
    if mine or len(statements) == 1 or not (tools.judge and shown) or len(whole.text) > WHOLE:
        return tuple(mine)
    ending = _ending(tools.judge, whole, _closest(tools, tools.judge, whole.text, shown))
    return (ending,) if ending else ()


async def endings(tools: Tools, note: Note, statements: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return those `statements` that the judge finds to end a memory, shown or nearly about the same."""
    judge = tools.judge
    if judge is None or not statements:
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


def objected(tools: Tools, note: Note) -> list[int]:
    """Return the memories that the agent noted in the turn before and the user's next message objects to."""
    if tools.judge is None or note.channel not in {"turn", "watched"} or not note.provenance.session:
        return []
    from memman.pipeline.heard import Heard, answered

    lines = [line for line, _, _ in parted(answered(note.reply)[0])[1]]
    rows = tools.reader.rows(tools.reader.newest_of(note.provenance.origin, _NOTED) if lines else ()).values()
    noted = [row for row in rows if row.note in note.shown and any(same(row.text, line) for line in lines)]
    said = Heard.of(note, tools.judge).spoken if noted else None
    return [row.id for row in noted if said and _objects(tools.judge, said.typed[0], row.text, answer=said.question)]


def _objects(judge: Judge, typed: str, line: str, *, answer: str) -> bool:
    """Whether what a user typed, which may `answer` a question, objects to a line that was noted."""
    words = re.findall(r"[\w']+", typed.lower().replace("\u2019", "'"))
    said = " ".join(dropwhile(_NO.__contains__, words))
    if not words or len(words) > OBJECTING or said.startswith(_UNNOTED):
        return 0 < len(words) <= OBJECTING
    begun = next((one for one in _WRONG if f"{said} ".startswith(f"{one} ")), "")
    rest = said.removeprefix(begun)
    if not rest:
        return not answer
    if begun:
        counts = [any(one.numbers for one in parsed(text)) for text in (rest, line)]
        return all(counts) or not stems(rest).isdisjoint(stems(line))
    return words[0] in _NO and judge.relation(line, typed).ends >= ENDED


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
    if tools.judge:
        ((worth, _),) = tools.judge.lines([statement.text])
        if worth < (WORTH if tools.judge.relation(text, statement.text).ends < ENDS else LEAST):
            return None
    return replace(statement, category=category) if cosines[n] >= KIN else statement
