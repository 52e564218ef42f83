"""What a user says about a memory that their session was shown: such a statement is kept, whatever it looks like.

Nearness tells what a statement is about, and nothing of whether it agrees: a rule turned round is as near to the rule
as the rule said again. So here it is a reason to keep what was said, and never one to drop it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memman.embed import Vectors
from memman.model.records import Fact, Note
from memman.pipeline.candidates import find
from memman.pipeline.passing import passing
from memman.pipeline.plan import Tools
from memman.pipeline.words import stems

# Cosines (docs/adr/0033) from which on a statement is about a memory that was shown, and of its kind: a preference or a
# decision too; and about one that was not, for an agent may have looked that up by itself.
NEAR, KIN, CLOSE = 0.5, 0.65, 0.8
# An order may be the task of this turn; with no other words than the memory's, and this part of those, it is not.
WHOLE = 0.75
_TEXT, _CATEGORY = 3, 4  # columns of a row


async def about(tools: Tools, note: Note, statements: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return those of a user's `statements` that are about what is stored, a close one of the memory's category."""
    if not statements:
        return ()
    shown = [
        (str(row[_TEXT]), str(row[_CATEGORY])) for row in tools.reader.rows(tools.reader.located(note.shown)).values()
    ]
    vectors = (await tools.local.embed([*(one.text for one in statements), *(text for text, _ in shown)])).vectors
    said, known = vectors[: len(statements)], vectors[len(statements) :]
    judged = (
        _about(one, near, shown) or _about(one, *_stored(tools, one, vector))
        for one, vector, near in zip(statements, said, said @ known.T, strict=True)
    )
    return tuple(filter(None, judged))


def _stored(tools: Tools, statement: Fact, vector: Vectors) -> tuple[Vectors, list[tuple[str, str]]]:
    """Return the cosines, texts and categories of the stored memories that say nearly the same."""
    near = [one for one in find(tools, statement, vector) if one.similarity >= CLOSE]
    return np.array([one.similarity for one in near]), [(one.text, one.category) for one in near]


def _about(statement: Fact, cosines: Vectors, memories: Sequence[tuple[str, str]]) -> Fact | None:
    """Return a statement as it is kept, None where it is about none of these memories."""
    n = int(np.argmax(cosines)) if len(cosines) else -1
    if n < 0 or cosines[n] < NEAR:
        return None
    text, category = memories[n]
    if passing(statement) and not _whole(statement.text, text):
        return None
    return replace(statement, category=category) if cosines[n] >= KIN else statement


def _whole(order: str, memory: str) -> bool:
    """Whether an order says what a memory says in its words alone, though not the same of it."""
    mine, other = stems(order), stems(memory)
    return mine <= other and len(mine) >= WHOLE * len(other)
