"""What an agent noted at the end of its answer, and whether it is the user's word: they said it, in other words.

Names, numbers and denials of the line must have been said, and the judge must find that what was said bears on it: by
the user in this turn or the two before, or by the agent in a question that the user's short answer assents to.
"""

import asyncio
import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime

from memman.judge.judge import Judge
from memman.llm.builtin.extract import described
from memman.llm.builtin.split import asks, sentences
from memman.model.noted import parted
from memman.model.records import Fact, Note
from memman.model.terms import folded, stem, words
from memman.pipeline.comparison import numbers
from memman.pipeline.deobfuscate import plain
from memman.pipeline.facts import fact
from memman.pipeline.fidelity import BOUNDS, Sentence, near_sentences, parsed
from memman.pipeline.injection import steering
from memman.pipeline.plan import Tools
from memman.pipeline.speech import SHOWN, heard, prose
from memman.pipeline.trust import told

# What was said bears on a line where the judge, one way or the other, so surely takes the two for no strangers, and
# this part of what the line speaks of was typed; or less surely where more of it was.
NEAR, HEARD = 0.5, 0.3
LIKELY, SHARED = 0.15, 0.6
# A question that the user answered bears on a line that is so near to it (cosine of what both speak of).
ABOUT = 0.5
# A day so far from today may have been said otherwise than by its number: tomorrow, on monday.
DAYS = 8
# Words of an answer to a question: those that assent, signs that do, those that only go with them, and those that begin
# a question or a condition. What another language assents with is taken for something else: then the question counts
# for nothing.
SHORT = 8
_ASSENT = frozenset(
    map(
        stem,
        "yes yeah yep ok okay sure right correct exactly agreed absolutely definitely fine good great perfect works"
        " please go ja genau gerne oui si claro tak dobrze \u0434\u0430".split(),
    )
)
_ASSENTING = "\U0001f44d\U0001f44c\u2705\u2714"
_ALONG = frozenset(map(stem, "sounds ahead thanks thank".split()))
_ASKING = frozenset(
    "what why how when where who which whose if as is are was were am do does did has have can could would should will"
    " shall may might must".split()
)
# What may stand in a question before what it proposes: what the user is asked to want, and how often.
_OFFERING = frozenset(map(stem, "want like prefer always".split())) | _ASSENT
_OR = re.compile(r",\s*(?:or\s+)?|\s+(?:or|oder|ou|o|lub|albo|\u0438\u043b\u0438)\s+")
# A sentence that has this part of a line's words may only show the line.
WORDED = 0.8
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b")
_O_CLOCK = ":00"
_BOUNDS = frozenset(map(stem, BOUNDS))


@dataclass(frozen=True, slots=True)
class Said:
    """What stands before a line: what the user `typed` of their own, and the `question` that they last answered.

    `read` is both, sentence by sentence.
    """

    typed: tuple[str, ...] = ()
    question: str = ""

    @classmethod
    def of(cls, note: Note, judge: Judge | None) -> "Said":
        """Read what a note brings; nothing of what cannot be read."""
        try:
            said = [(str(who), plain(str(text))) for who, text in json.loads(note.reply)]
        except (ValueError, TypeError):
            return cls()
        last = max((n for n, (who, _) in enumerate(said) if who == "user"), default=-1)
        typed = tuple(own for who, text in said[: last + 1] if who == "user" and (own := _own(judge, text)))
        newest = _own(judge, said[last][1]) if last >= 0 else ""
        before = prose(parted(said[last - 1][1])[0]) if last > 0 and said[last - 1][0] == "agent" else ""
        return cls(typed, cls.after(before, newest).question)

    @classmethod
    def after(cls, before: str, typed: str) -> "Said":
        """Return what a user `typed` after what the agent had said."""
        answers = typed and len(typed.split()) <= SHORT and not asks(typed)
        told = sentences(before.rstrip().rpartition("\n\n")[2]) if answers else []
        if not told or not asks(told[-1]):
            return cls((typed,))
        # "Is that so?" asks what stands before it.
        return cls((typed,), " ".join(told[-1:] if _roots(parsed(told[-1])) else told[-2:]))

    def taken_up(self, line: str) -> "Said":
        """Return what bears on a line: a question only if the user's answer makes the line theirs."""
        if not self.question:
            return self
        answer, spoken = parsed(self.typed[-1]), _roots(parsed(line))
        chosen = _roots(answer) - _ASSENT - _ALONG
        said = [folded(word) for word in words(self.typed[-1])]
        if any(one.denied for one in answer) or (said and said[0] in _ASKING):
            taken = False
        elif chosen:
            taken = chosen <= spoken and not _rivals(self.question, chosen) & spoken
        else:
            assents = not _ASSENT.isdisjoint(map(stem, said)) or not set(_ASSENTING).isdisjoint(self.typed[-1])
            taken = assents and _proposes(self.question, spoken)
        return self if taken else Said(self.typed)

    @property
    def read(self) -> tuple[Sentence, ...]:
        """Return the sentences of what was typed, but asked, and of what was answered."""
        stated = (one for text in self.typed for one in parsed(text) if not asks(one.text))
        return (*stated, *parsed(self.question))

    def told(self) -> list[str]:
        """Return what the user typed that may bear a line out: each message, and each sentence of it that states."""
        return list(dict.fromkeys(one for text in self.typed for one in _told(text)))

    def answered(self) -> list[str]:
        """Return what the user answered with a few words: the question with the answer, and each sentence of it."""
        whole = f"{self.question} {self.typed[-1]}" if self.question else ""
        return [whole, *(one.text for one in parsed(self.question))] if whole else []


def _options(question: str) -> list[Sentence]:
    """Return the options that a question offers; [] where it offers no choice."""
    asked = parsed(question)[-1].text.rpartition(": ")[2]
    found = [one for option in _OR.split(asked) for one in parsed(option) if one.order]
    return found if len(found) > 1 and any(one.strip(", ") for one in _OR.findall(asked)) else []


def _rivals(question: str, chosen: frozenset[str]) -> frozenset[str]:
    """Return words of the options that were not chosen; what was chosen, where it may be one of several."""
    options = _options(question)
    taken = [one for one in options if chosen <= one.roots]
    if len(taken) > 1:
        return chosen
    # What all have in common stands in the first before what tells it from the others, in the last behind that.
    own = [one.order for one in options]
    own[:1], own[-1:] = [one[-1:] for one in own[:1]], [one[:1] for one in own[-1:]]
    return frozenset(root for some in own for root in some) - _roots(taken) - chosen


def _proposes(question: str, spoken: frozenset[str]) -> bool:
    """Whether a line speaks of what a question offers: what comes first in it, not what a later clause mentions."""
    if _options(question):
        return False
    head, colon, asked = question.rpartition(": ")
    order = parsed(asked if colon and "i" in map(folded, words(head)) else question)[0].order
    return next((root in spoken for root in order if root not in _OFFERING), False)


def _told(text: str) -> list[str]:
    """Return the sentences of a message that ask nothing, and all of these together."""
    stated = [one.text for one in parsed(text) if not asks(one.text)]
    return [" ".join(stated), *stated] if stated else []


def _own(judge: Judge | None, text: str) -> str:
    """Return what of a message its author surely typed."""
    own, unclear = heard(judge, text)
    for passage in unclear:
        own = own.replace(passage, " ")
    return own.strip()


async def noted(tools: Tools, note: Note) -> tuple[Fact, ...]:
    """Return the line as a fact: the user's in the agent's words where they said it, else the agent's."""
    if tools.capture == "off":
        return ()
    kind = (await asyncio.to_thread(tools.judge.lines, [note.text]))[0][1] if tools.judge else "fact"
    one = fact(described(note.text, kind), note.hints)
    if not one.text:
        return ()
    return (one if await asyncio.to_thread(borne_out, tools, note, one.text) else told(one),)


def borne_out(tools: Tools, note: Note, text: str) -> bool:
    """Whether the user said what a line says."""
    return said_by(tools, note, Said.of(note, tools.judge), text)


def said_by(tools: Tools, note: Note, said: Said, text: str) -> bool:
    """Whether a user who `said` that said what a line says."""
    said = said.taken_up(text)
    return names_nothing_else(tools, note, said, text) and says(tools, note, said, text)


def says(tools: Tools, note: Note, said: Said, text: str) -> bool:
    """Whether a user who `said` that said what a line says, whatever names and numbers it holds."""
    judge = tools.judge
    if judge is None or not said.typed or any(steering(judge, [text])) or _denies_otherwise(text, said):
        return False
    said = Said(tuple(_used(judge, one, text) for one in said.typed), said.question)
    heard_of = share(text, note, said)
    least = LIKELY if heard_of >= SHARED else NEAR
    return heard_of >= HEARD and any(sure >= least for sure in _bearing(judge, text, said))


def _used(judge: Judge, typed: str, line: str) -> str:
    """Return what was typed without sentences that only show what a line says: "grep for always use tabs"."""
    spoken = _roots(parsed(line))
    for one in parsed(typed):
        shared = one.roots & spoken
        if not shared or len(shared) < WORDED * len(spoken):
            continue
        starts = [found.start() for found in re.finditer(r"\S+", one.text)]
        shown = next(one.text[at:] for at in reversed(starts) if shared <= _roots(parsed(one.text[at:])))
        head = _roots(parsed(one.text.removesuffix(shown))) - _OFFERING
        if head and judge.relation(shown, one.text).apart >= SHOWN:
            typed = typed.replace(one.text, " ")
    return typed


def covers(judge: Judge, line: str, text: str, *, sure: bool) -> bool:
    """Whether a line says what a text says; one that the user's words do not bear out (`sure`) only in its words."""
    if not numbers(text) <= numbers(line) or max(_bearing(judge, line, Said((text,)))) < NEAR:
        return False
    mine, theirs = _roots(parsed(text)), _roots(parsed(line))
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
    spoken = _roots(parsed(text)) - _place(note)
    return len(spoken & _roots(said.read)) / max(1, len(spoken))


def names_nothing_else(tools: Tools, note: Note, said: Said, text: str) -> bool:
    """Whether every name and number of a text was said, or is a name that this place is known by.

    The agent works out which day "monday" is: a day that is near, or of which the number was typed, was said.
    """
    figures = {number for one in said.read for _, number, _ in one.numbers}
    figures |= {figure.removesuffix(_O_CLOCK) for figure in figures}
    line = parsed(_undated(text, note.queued_at, figures))
    if not {number.removesuffix(_O_CLOCK) for one in line for _, number, _ in one.numbers} <= figures:
        return False
    names = {name for one in line for name in one.names} - (_roots(said.read) | _place(note) | _BOUNDS)
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
        return not _roots(line).isdisjoint(theirs)
    likest = max(near, key=lambda one: len(one.roots & _roots(line)), default=None)
    denied = [root for root in likest.denied if root not in _BOUNDS] if likest else []
    return len(line) == len(mine) == 1 and bool(denied) and len(denied) % 2 == 0


def _contrasts(sentence: Sentence, root: str) -> bool:
    """Whether a sentence denies a number beside one that it affirms: "40 MB, not 25"."""
    figures = {number for _, number, _ in sentence.numbers}
    return root in figures and not figures <= set(sentence.denied)


def _place(note: Note) -> frozenset[str]:
    return _roots(parsed(note.provenance.repository.replace("/", " ")))


def _roots(some: Iterable[Sentence]) -> frozenset[str]:
    return frozenset[str]().union(*(one.roots for one in some))
