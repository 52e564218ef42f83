"""What each fact holds for: the person everywhere, the repository it was said in, or a folder of that."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from memman.config.scope import PATH, PERSONAL, REPOSITORY
from memman.model.records import Fact, Note, Scope
from memman.model.trust import unverified
from memman.pipeline.plan import Tools
from memman.pipeline.trust import source
from memman.store.filters import Filters
from memman.store.protocols import Reader

_EVERYTHING = Filters()
# What the judge finds -> scope.
_BANDS = {0: REPOSITORY, 1: "", 2: PERSONAL}


async def scoped(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Give each fact its scope: what the caller says, or else what the judge finds, '' where it is unsure.

    What a page, a file or a tool says is nobody's wish.
    """
    if note.hints.scope or not note.provenance.repository or tools.judge is None:
        return tuple(replace(fact, scope=note.hints.scope) for fact in facts)
    personal = await asyncio.to_thread(tools.judge.personal, [fact.text for fact in facts])
    return tuple(
        replace(fact, scope=REPOSITORY if unverified(source(note, fact)) else _BANDS[band])
        for fact, band in zip(facts, personal, strict=True)
    )


def scope(note: Note, fact: Fact) -> Scope:
    """Return what a fact of a note holds for; outside of any repository that is everywhere."""
    repository = note.provenance.repository
    if fact.scope == PERSONAL or not repository:
        return Scope()
    return Scope(repository, fact.scope.removeprefix(PATH) if fact.scope.startswith(PATH) else "")


def ends(note: Note, fact: Fact, personal: bool) -> bool:
    """Whether a fact may end a memory, `personal` where that holds everywhere: an exception in one place does not."""
    return not personal or not scope(note, fact).repository or not fact.scope


def around(reader: Reader, note: Note) -> Filters:
    """Return what admits the memories of a note's repository, and what holds everywhere."""
    return _EVERYTHING.scoped(reader.holding(note.provenance.repository) | reader.holding(""))
