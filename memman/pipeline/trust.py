"""Whose word a fact is, what that lets it do, and whether the user said what an agent's line says."""

import asyncio
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime

from memman.belief import AGENT, STEER, USER, WISH, allowed, lowest, trusted
from memman.judge.judge import Judge
from memman.llm.builtin.extract import described
from memman.model.records import DEFAULT_IMPORTANCE, Candidate, Fact, Note
from memman.model.terms import stem, words
from memman.model.text import said
from memman.model.vocabulary import REMEMBERED, WISHES
from memman.pipeline.comparison import (
    BOUNDS,
    Sentence,
    near_sentences,
    numbers,
    parsed,
    roots,
    twins,
)
from memman.pipeline.heard import OFFERING, SHOWN, Said
from memman.pipeline.injection import parts, planted, steering
from memman.pipeline.plan import Tools
from memman.pipeline.replies import fact as as_fact

# How somebody begins who tells what others say: a third party that says or wants it.
_REPORT = re.compile(
    r"(?:(?:the|an?|our|my|his|her|their) )?"
    r"(?:(?!(?:i|we|you|user|it|this|that|which|what|who|as|like|never|always|also)\b)[\w\u2019'-]+ ){1,2}"
    r"(?:says?|said|wants?|wanted|insists?|told (?:me|us)|asked (?:me|us|for))\b",
    re.IGNORECASE,
)


def source(note: Note, fact: Fact) -> str:
    """Return whose word a fact is: the least trusted of those it comes from."""
    return lowest(note.provenance.source, fact.source)


def whose(note: Note, fact: Fact, candidates: Sequence[Candidate]) -> str:
    """Return whose word a fact is: what an agent says in nearly the words of an unverified memory it hands on."""
    mine = source(note, fact)
    read = [c for c in candidates if not trusted(c.source)] if mine == AGENT else []
    return lowest(mine, *(c.source for c in read if twins(c.text, fact.text)))


def prompted(note: Note, fact: Fact) -> bool:
    """Whether a prompt holds what is nobody's word: the user may have typed it, or pasted it."""
    turn = note.channel in {"turn", "watched"}
    return turn and bool(fact.source) and set(words(said(fact.text))) <= set(words(note.text))


def reported(note: Note, fact: Fact) -> bool:
    """Whether a fact is what others said, told by the user: nobody's wish, and by itself it retires nothing."""
    return source(note, fact) == USER and not note.hints.category and bool(_REPORT.match(fact.text))


def told(fact: Fact) -> Fact:
    """Return a fact as the agent's word, which is nobody's wish."""
    return replace(fact, source=AGENT, category=_unwished(fact))


async def restrained(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Give each fact the weight of its source, and hold back what is written to steer an agent.

    Of a note that somebody asked to be remembered a planted structure holds back all.
    """
    asked = [part for fact in facts if not allowed(source(note, fact), STEER) for part in parts(fact)]
    found = await asyncio.to_thread(steering, tools.judge, asked)
    held = {part: why for part, why in zip(asked, found, strict=True) if why}
    whole = planted(note.text) if note.channel in REMEMBERED else ""
    return tuple(_restrained(note, fact, held, whole) for fact in facts)


def _restrained(note: Note, fact: Fact, held: Mapping[str, str], whole: str) -> Fact:
    mine = source(note, fact)
    why = "" if allowed(mine, STEER) else next((held[part] for part in parts(fact) if part in held), whole)
    weight = bounded(fact, mine)
    return replace(weight, held=why, category=_unwished(fact) if reported(note, fact) else weight.category)


def bounded(fact: Fact, whose: str) -> Fact:
    """Give a fact no more weight than its source may have: low trust wishes nothing and is of ordinary importance."""
    if allowed(whose, WISH):
        return fact
    return replace(fact, category=_unwished(fact), importance=min(fact.importance, DEFAULT_IMPORTANCE))


def _unwished(fact: Fact) -> str:
    return "fact" if fact.category in WISHES else fact.category


# What was said bears on a line where the judge, one way or the other, so surely takes the two for no strangers, and
# this part of what the line speaks of was typed; or less surely where more of it was.
NEAR, HEARD = 0.5, 0.3
LIKELY, SHARED = 0.15, 0.6
# A question that the user answered bears on a line that is so near to it (cosine of what both speak of).
ABOUT = 0.5
# A day so far from today may have been said otherwise than by its number: tomorrow, on monday.
DAYS = 8
# A sentence that has this part of a line's words may only show the line.
WORDED = 0.8
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_O_CLOCK = ":00"
_BOUNDS = frozenset(map(stem, BOUNDS))


async def noted(tools: Tools, note: Note) -> tuple[Fact, ...]:
    """Return the line as a fact: the user's in the agent's words where they said it, else the agent's."""
    if tools.capture == "off":
        return ()
    kind = (await asyncio.to_thread(tools.judge.lines, [note.text]))[0][1]
    one = as_fact(described(note.text, kind), note.hints)
    if not one.text:
        return ()
    said = await asyncio.to_thread(Said.of, note, tools.judge)
    return (one if await asyncio.to_thread(said_by, tools, note, said, one.text) else told(one),)


def said_by(tools: Tools, note: Note, said: Said, text: str) -> bool:
    """Whether a user who `said` that said what a line says."""
    said = said.taken_up(text)
    return names_nothing_else(tools, note, said, text) and really_said(tools, note, said, text)


def really_said(tools: Tools, note: Note, said: Said, text: str) -> bool:
    """Whether a user who `said` that said what a line says, whatever names and numbers it holds."""
    judge = tools.judge
    if not said.typed or any(steering(judge, [text])) or _denies_otherwise(text, said):
        return False
    said = Said(tuple(_used(judge, one, text) for one in said.typed), said.question)
    heard_of = share(text, note, said)
    least = LIKELY if heard_of >= SHARED else NEAR
    return heard_of >= HEARD and any(sure >= least for sure in _bearing(judge, text, said))


def _used(judge: Judge, typed: str, line: str) -> str:
    """Return what was typed without sentences that only show what a line says: "grep for always use tabs"."""
    spoken = roots(parsed(line))
    for one in parsed(typed):
        shared = one.roots & spoken
        if not shared or len(shared) < WORDED * len(spoken):
            continue
        starts = [found.start() for found in re.finditer(r"\S+", one.text)]
        shown = next(one.text[at:] for at in reversed(starts) if shared <= roots(parsed(one.text[at:])))
        head = roots(parsed(one.text.removesuffix(shown))) - OFFERING
        if head and judge.relation(shown, one.text).apart >= SHOWN:
            typed = typed.replace(one.text, " ")
    return typed


def covers(judge: Judge, line: str, text: str, *, sure: bool) -> bool:
    """Whether a line says what a text says; one that the user's words do not bear out (`sure`) only in its words."""
    if not numbers(text) <= numbers(line) or max(_bearing(judge, line, Said((text,)))) < NEAR:
        return False
    mine, theirs = roots(parsed(text)), roots(parsed(line))
    return sure or (2 * len(mine & theirs) >= len(mine) and not _denies_otherwise(line, Said((text,))))


def _bearing(judge: Judge, line: str, said: Said) -> Iterator[float]:
    """Yield of each passage how surely it bears a line out; what was answered need only be about the same."""
    told, answered = said.told(), said.answered()
    passages = [*told, *answered]
    there = judge.relations([(passage, line) for passage in passages])
    back = judge.relations([(line, passage) for passage in passages])
    about = judge.about(passages) @ judge.about([line])[0]
    for n in range(len(passages)):
        near = n >= len(told) and about[n] >= ABOUT
        yield 1.0 if near else 1 - min(there[n].apart, back[n].apart)


def share(text: str, note: Note, said: Said) -> float:
    """Return which part of what a line speaks of the user typed, or was asked."""
    spoken = roots(parsed(text)) - _place(note)
    return len(spoken & roots(said.read)) / max(1, len(spoken))


def names_nothing_else(tools: Tools, note: Note, said: Said, text: str) -> bool:
    """Whether every name and number of a text was said, or is a name that this place is known by.

    The agent works out which day "monday" is: a day that is near, or of which the number was typed, was said.
    """
    figures = {number for one in said.read for _, number, _ in one.numbers}
    figures |= {figure.removesuffix(_O_CLOCK) for figure in figures}
    line = parsed(_undated(text, note.queued_at, figures))
    if not {number.removesuffix(_O_CLOCK) for one in line for _, number, _ in one.numbers} <= figures:
        return False
    names = {name for one in line for name in one.names} - (roots(said.read) | _place(note) | _BOUNDS)
    return all(tools.reader.mentions(name, 1)[0] for name in names)


def _undated(text: str, at: int, figures: Collection[str]) -> str:
    """Return a text without the days in it that a speaker at a moment (Unix milliseconds) need not have said so."""
    today = datetime.fromtimestamp(at / 1000).astimezone().date()

    def left(found: re.Match[str]) -> str:
        try:
            told = date.fromisoformat(found[0])
        except ValueError:
            return found[0]
        return " " if abs((told - today).days) <= DAYS or str(told.day) in figures else found[0]

    return re.sub(rf"\b{today.year}\b", " ", _DATE.sub(left, text))


def _denies_otherwise(text: str, said: Said) -> bool:
    """Whether a line denies and nobody else does, affirms what they deny, or the two deny once and twice."""
    line, near = parsed(text), near_sentences(parsed(text), said.read)
    mine, theirs, anybody = ([root for one in some for root in one.denied] for some in (line, near, said.read))
    mine, theirs, anybody = ([root for root in some if root not in _BOUNDS] for some in (mine, theirs, anybody))
    mine = [root for root in mine if not any(_contrasts(one, root) for one in line)]
    if mine and not anybody:
        return True
    if not mine:
        return not roots(line).isdisjoint(theirs)
    likest = max(near, key=lambda one: len(one.roots & roots(line)), default=None)
    denied = [root for root in likest.denied if root not in _BOUNDS] if likest else []
    return len(line) == len(mine) == 1 and bool(denied) and len(denied) % 2 == 0


def _contrasts(sentence: Sentence, root: str) -> bool:
    """Whether a sentence denies a number beside one that it affirms: "40 MB, not 25"."""
    figures = {number for _, number, _ in sentence.numbers}
    return root in figures and not figures <= set(sentence.denied)


def _place(note: Note) -> frozenset[str]:
    return roots(parsed(note.provenance.repository.replace("/", " ")))
