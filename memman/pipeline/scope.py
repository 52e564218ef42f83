"""What each fact holds for: the person everywhere, the repository or folder it was said in, or a folder of that."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from memman.config.scope import PATH, PERSONAL, REPOSITORY
from memman.model.records import Fact, Note, Scope
from memman.model.trust import USER, unverified
from memman.pipeline.plan import Tools
from memman.pipeline.trust import source
from memman.store.filters import Filters

_EVERYTHING = Filters()
# What a model says, '' for nothing -> the scope of what the judge finds to be a repository's, unsure, surely personal.
_SCOPES = {
    "": (REPOSITORY, "", PERSONAL),
    PERSONAL: (PERSONAL, PERSONAL, PERSONAL),
    REPOSITORY: (REPOSITORY, "", ""),
}
# What somebody says who says where it holds.
_WORDS = {
    PERSONAL: re.compile(
        r"\b(?:every|each|any|all|none)(?: (?:other|single|of|my|our|the|your|their))*"
        r" (?:repos?|repositor(?:y|ies)|projects?|codebases?)\b|\beverywhere\b|\bwherever i work\b",
        re.IGNORECASE,
    ),
    REPOSITORY: re.compile(
        r"\b(?:this|our) (?:repo|repository|project|codebase)\b|\bhere\b(?!'s| is\b| are\b)", re.IGNORECASE
    ),
}


async def scoped(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Give each fact its scope: what the caller says, or else what model and judge find, '' where that is unsure."""
    said = asked(note)
    if said or not note.provenance.repository:
        # What only an agent says is nobody's wish for all they do.
        others = "" if said == PERSONAL else said
        return tuple(replace(fact, scope=said if source(note, fact) == USER else others) for fact in facts)
    texts = [fact.text for fact in facts]
    bands = await asyncio.to_thread(tools.judge.personal, texts) if tools.judge else [1] * len(texts)
    return tuple(
        replace(fact, scope=_found(source(note, fact), named(fact.text) or _SCOPES[fact.scope][band]))
        for fact, band in zip(facts, bands, strict=True)
    )


def named(text: str) -> str:
    """Return the scope that a text names itself, '' for none."""
    return next((scope for scope, words in _WORDS.items() if words.search(text)), "")


def asked(note: Note) -> str:
    """Return what the caller says a note holds for, '' for nothing: a wish is only what the user says themselves."""
    said = note.hints.scope
    return "" if said == PERSONAL and note.provenance.source != USER else said


def _found(whose: str, scope: str) -> str:
    """Return the scope of a source's word, given what was found for it: of others than the user none is personal."""
    if unverified(whose):
        return REPOSITORY
    return scope if whose == USER or scope != PERSONAL else ""


def scope(note: Note, fact: Fact) -> Scope:
    """Return what a fact of a note holds for; at home that is everywhere."""
    repository = note.provenance.repository
    if fact.scope == PERSONAL or not repository:
        return Scope()
    return Scope(repository, fact.scope.removeprefix(PATH) if fact.scope.startswith(PATH) else "")


def ends(note: Note, fact: Fact, personal: bool) -> bool:
    """Whether a fact may end a memory, `personal` where that holds everywhere: an exception in one place does not."""
    return not personal or not scope(note, fact).repository or not fact.scope


def around(tools: Tools, note: Note) -> Filters:
    """Return what admits the memories that are recalled in a note's repository, and what holds everywhere."""
    kin = tools.kin(note.provenance.repository)
    return _EVERYTHING.scoped(frozenset[int]().union(*map(tools.reader.holding, (*kin, ""))))
