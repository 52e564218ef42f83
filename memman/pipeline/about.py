"""What a user says about a memory that their session was shown: such a statement is kept, whatever it looks like.

Nearness tells what a statement is about, and nothing of whether it agrees: a rule turned round is as near to the rule
as the rule said again. So here it is a reason to keep what was said, and never one to drop it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from memman.model.records import Fact, Note
from memman.pipeline.passing import passing
from memman.pipeline.plan import Tools
from memman.pipeline.words import stems

# Cosines from which on a statement is about a memory, and of its kind: a preference or a decision too (docs/adr/0033).
NEAR, KIN = 0.5, 0.65
# An order may be the task of this turn; with no other words than the memory's, and this part of those, it is not.
WHOLE = 0.75
_TEXT, _CATEGORY = 3, 4  # columns of a row


async def about(tools: Tools, note: Note, statements: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return those of a user's `statements` that are about what the session was shown, a close one of its category."""
    rows = list(tools.reader.rows(tools.reader.located(note.shown)).values())
    if not rows or not statements:
        return ()
    said, texts = [one.text for one in statements], [str(row[_TEXT]) for row in rows]
    vectors = (await tools.local.embed([*said, *texts])).vectors
    cosines = vectors[: len(said)] @ vectors[len(said) :].T
    found = []
    for one, near in zip(statements, cosines, strict=True):
        n = int(np.argmax(near))
        if near[n] >= NEAR and (not passing(one) or _whole(one.text, texts[n])):
            found.append(replace(one, category=str(rows[n][_CATEGORY])) if near[n] >= KIN else one)
    return tuple(found)


def _whole(order: str, memory: str) -> bool:
    """Whether an order says what a memory says in its words alone, though not the same of it."""
    mine, other = stems(order), stems(memory)
    return mine <= other and len(mine) >= WHOLE * len(other)
