"""What a user says about a memory that their session was shown: such a statement is kept, whatever it looks like.

Nearness tells what a statement is about, and nothing of whether it agrees: a rule turned round is as near to the rule
as the rule said again. So here it is a reason to keep what was said, and never one to drop it.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from memman.embed import Vectors
from memman.judge.judge import Judge
from memman.model.records import Fact, Note
from memman.pipeline.candidates import find
from memman.pipeline.judged import alike
from memman.pipeline.plan import Tools

# Cosines (docs/adr/0036) from which on a statement is about a memory that was shown, and of its kind: a preference or a
# decision too; and about one that was not, for an agent may have looked that up by itself.
NEAR, KIN, CLOSE = 0.5, 0.65, 0.8
# An order may be the task of this turn: it is kept where it seems to end what a memory says, or worth keeping at all.
ENDS, WORTH = 0.15, 0.6
# Shown memories that the judge compares a statement with: those that speak of most nearly the same.
ASKED = 2
# Characters of a turn that is judged as one statement too: people turn a rule round in two or three sentences.
WHOLE = 300
# So many statements are kept together where the one that is about no memory is worth this; a task is worth less.
BREATH, BESIDE = 2, 0.1

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


def together(judge: Judge | None, statements: Sequence[Fact], answers: tuple[Fact, ...]) -> tuple[Fact, ...]:
    """Put two statements together where one is about a memory and the other is more than a task.

    People often tell the occasion in one, and in the other what holds from now on.
    """
    texts = [one.text for one in statements]
    if (
        judge is None
        or not len(texts) == len(set(texts)) == BREATH
        or len(answers) != 1
        or answers[0].text not in texts
    ):
        return answers
    n = 1 - texts.index(answers[0].text)
    worth, _ = judge.lines(texts)[n]
    if worth < BESIDE or sum(map(len, texts)) > WHOLE:
        return answers
    other = statements[n]
    named = tuple(dict.fromkeys((*answers[0].entities, *other.entities)))
    return (replace(answers[0], text=" ".join(texts), entities=named, summary=""),)


def _ending(judge: Judge, statement: Fact, memories: Sequence[Shown]) -> Fact | None:
    """Return a statement, of the memory's category, where the judge finds that it may end one of `memories`."""
    judged = judge.relations([(text, statement.text) for text, _ in memories])
    ended = [category for (_, category), one in zip(memories, judged, strict=True) if one.ends >= ENDS]
    return replace(statement, category=ended[0]) if ended else None


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
    if tools.judge and tools.judge.relation(text, statement.text).ends < ENDS:
        ((worth, _),) = tools.judge.lines([statement.text])
        if worth < WORTH:
            return None
    return replace(statement, category=category) if cosines[n] >= KIN else statement
