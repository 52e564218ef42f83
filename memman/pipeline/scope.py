"""What each fact holds for: the person everywhere, the repository or folder it was said in, or a folder of that."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace

from memman.belief import BEYOND, allowed, trusted
from memman.config.scope import PATH, PERSONAL, REPOSITORY, THERE, calls, same
from memman.llm.builtin.markdown import blocks
from memman.model.records import Fact, Note, Scope
from memman.pipeline.injection import plain
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
_PLACE = r"(?:repo|repository|project|codebase)"
_PLACES = r"(?:repos|repositories|projects|codebases)"
_ALL = r"\b(?:every|each|any|all|none)(?: (?:other|single|of|my|our|the|your|their))*"
_OURS = r"\b(?:every|each|any|all|none)(?: (?:other|single|of))* (?:my|our|your)"
# What somebody says who says where it holds: the first that fits decides.
_WORDS = tuple(
    (scope, re.compile(words, re.IGNORECASE))
    for scope, words in (
        (PERSONAL, r"\b(?:in|across) (?:this|our|my|the) company\b"),
        (REPOSITORY, r"\b(?:every|no)where in (?:this|the|our)\b"),
        # What excepts this place is kept in it, with its words.
        (REPOSITORY, r"\b(?:except|but)(?: for)? (?:this|here)\b"),
        (PERSONAL, r"\b(?:every|no)where\b|\bwherever i work\b"),
        # "Check every project board" says of no project that anything holds there.
        (PERSONAL, rf"(?:^|[.,:;!] ?|\b(?:in|for|across|on|of|to|with) ){_ALL} (?:{_PLACE}|{_PLACES})\b"),
        (PERSONAL, rf"{_OURS} {_PLACES}\b"),
        # The language that the user is answered in.
        (PERSONAL, r"^(?:your |the |all )?answers? (?:is|are|should be|must be) (?:always )?in \w+(?:ish|an|ese|ch)\b"),
        (REPOSITORY, rf"\b(?:this|our) {_PLACE}\b|\bhere\b(?!'s| is\b| are\b)"),
    )
)

# What may name a repository, and how a statement begins and goes on that holds in the one it names: "in NAME we use",
# "for NAME, use", "NAME: use", "NAME's", "NAME uses". "In NAME responses dates come" speaks of what is somewhere else.
_NAME = re.compile(r"(?P<tick>`?)(?P<name>[\w.][\w./-]*\w)`?(?P<repo> (?:repo|repository|project|codebase)\b)?")
_SHORTEST = 4
_BEGINS = re.compile(
    r"(?:[^.!?\n]{0,40}?(?:[,:;]|\bthat) )?(?:(?:and|but|so|also) )?"
    r"(?:(in|on|en|dans|em|bei) |(for|pour|para|f\u00fcr) )?(?:the |our )?",
    re.IGNORECASE,
)
_GOES_ON = (
    re.compile(r"(?:['\u2019]s | (?:(?:always|also|now|only) )?(?:uses|has|needs) )(?!.*[,;] (?!not\b))|: "),
    re.compile(
        r"['\u2019]s |[,:] | (?!(?!always\b)\w{3,}s\b(?! (?:are|have|need|do|must|should|can|may|never|always)\b))"
    ),
    re.compile(r"[,:] | (?:we|wir|nous|on) "),
)


async def scoped(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Give each fact its scope: what the caller says, or else what model and judge find, '' where that is unsure."""
    said = asked(note)
    there = ["" if said else _there(tools, note, fact) for fact in facts]
    if said or not note.provenance.repository:
        # What only an agent says is nobody's wish for all they do.
        others = "" if said == PERSONAL else said
        found = [said if allowed(source(note, fact), BEYOND) else others for fact in facts]
    else:
        texts = [fact.text for fact in facts]
        bands = await asyncio.to_thread(tools.judge.personal, texts)
        found = [
            _found(source(note, fact), named(fact.text) or _SCOPES[fact.scope][band])
            for fact, band in zip(facts, bands, strict=True)
        ]
    found = _as_lists(note, facts, found)
    return tuple(
        # What it ends stands elsewhere, too.
        replace(fact, scope=name or scope, ends=None if name.startswith(THERE) else fact.ends)
        for fact, name, scope in zip(facts, there, found, strict=True)
    )


def _as_lists(note: Note, facts: Sequence[Fact], found: Sequence[str]) -> list[str]:
    """Have a list hold in one place: where it was said, unless all of its items hold elsewhere."""
    read = blocks(plain(note.text))
    leads = {": ".join(one.leads): set[str]() for one in read if one.kind == "item" and one.leads}
    lists = [next((lead for lead in leads if f"{lead}: " in fact.text), "") for fact in facts]
    for lead, scope in zip(lists, found, strict=True):
        leads.setdefault(lead, set()).add(scope)
    return [scope if not lead or len(leads[lead]) == 1 else "" for lead, scope in zip(lists, found, strict=True)]


def named(text: str) -> str:
    """Return the scope that a text names itself, '' for none."""
    return next((scope for scope, words in _WORDS if words.search(text)), "")


def _there(tools: Tools, note: Note, fact: Fact) -> str:
    """Return the scope of what the user says to hold in the one repository that it names, '' for anything else."""
    if not allowed(source(note, fact), BEYOND) or named(fact.text):
        return ""
    known = tools.mentioned(tools.reader.repositories(), fact.text)
    names = [name for name in _NAME.finditer(fact.text) if known and _telling(tools, name)]
    found = [(name, one) for name in names for one in known if calls(name["name"], one)]
    if len({one for _, one in found}) != 1:
        return ""
    name, one = found[0]
    begins = _BEGINS.fullmatch(fact.text[: name.start()])
    if not begins or not _GOES_ON[begins.lastindex or 0].match(fact.text[name.end() :]):
        return ""
    return REPOSITORY if any(same(one, kin) for kin in tools.kin(note.provenance.repository)) else THERE + one


def _telling(tools: Tools, name: re.Match[str]) -> bool:
    """Whether a word is no common one: it is marked as a repository or as code, or the judge has to spell it."""
    word = name["name"]
    marked = name["tick"] or name["repo"] or not word.isalpha()
    return len(word) >= _SHORTEST and bool(marked or not tools.judge.reads_whole(word))


def asked(note: Note) -> str:
    """Return what the caller says a note holds for, '' for nothing: a wish is only what the user says themselves."""
    said = note.hints.scope
    return "" if said == PERSONAL and not allowed(note.provenance.source, BEYOND) else said


def _found(whose: str, scope: str) -> str:
    """Return the scope of a source's word, given what was found for it: of others than the user none is personal."""
    if not trusted(whose):
        return REPOSITORY
    return scope if allowed(whose, BEYOND) or scope != PERSONAL else ""


def scope(note: Note, fact: Fact) -> Scope:
    """Return what a fact of a note holds for; at home that is everywhere."""
    repository = place(note, fact)
    if fact.scope == PERSONAL or not repository:
        return Scope()
    return Scope(repository, fact.scope.removeprefix(PATH) if fact.scope.startswith(PATH) else "")


def place(note: Note, fact: Fact | None = None) -> str:
    """Return the repository that a fact of a note is compared in: the one it names, or where it was said."""
    return fact.scope.removeprefix(THERE) if fact and fact.scope.startswith(THERE) else note.provenance.repository


def around(tools: Tools, note: Note, fact: Fact | None = None) -> Filters:
    """Return what admits the memories that are recalled in the repository of a note or fact, and what is everywhere."""
    kin = tools.kin(place(note, fact))
    return _EVERYTHING.having(scopes=frozenset[int]().union(*map(tools.reader.holding, (*kin, ""))))
