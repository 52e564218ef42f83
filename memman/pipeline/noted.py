"""What an agent noted at the end of its answer, and whether it is the user's word: they said it, in other words.

Names, numbers and denials of the line must have been said, and the judge must find that what was said bears on it: by
the user in this turn or the two before, or by the agent in a question that the user's short answer assents to.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memman.judge.judge import Judge
from memman.llm.builtin.extract import described
from memman.llm.builtin.split import asks
from memman.model.records import Fact, Note
from memman.pipeline.comparison import numbers
from memman.pipeline.deobfuscate import plain
from memman.pipeline.facts import fact
from memman.pipeline.fidelity import Sentence, parsed
from memman.pipeline.injection import steering
from memman.pipeline.passages import heard
from memman.pipeline.plan import Tools
from memman.pipeline.speech import prose
from memman.pipeline.trust import told

# What was said bears on a line where the judge takes the two, one way or the other, this little for strangers.
STRANGERS = 0.5
# A question that the user answered bears on a line that is so near to it (cosine of what both speak of).
NEAR = 0.5
# Words of an answer that assents to a question, or chooses.
SHORT = 8
# Characters of the agent's last paragraph that a short answer is read with.
ASKED = 400


@dataclass(frozen=True, slots=True)
class Said:
    """What stands before a line: what the user `typed` of their own, and the `question` that they last answered.

    `beside` is what the agent wrote before that: a name in it was before the user's eyes.
    """

    typed: tuple[str, ...] = ()
    question: str = ""
    beside: str = ""

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
        before = prose(said[last - 1][1]) if last > 0 and said[last - 1][0] == "agent" else ""
        paragraph = before.rstrip().rpartition("\n\n")[2][-ASKED:]
        answered = newest and len(newest.split()) <= SHORT and not asks(newest)
        return cls(typed, paragraph if answered and asks(paragraph) else "", before)

    def told(self) -> list[str]:
        """Return what the user typed that may bear a line out: each message, and each sentence of it."""
        return list(dict.fromkeys(one for text in self.typed for one in (text, *(part.text for part in parsed(text)))))

    def answered(self) -> list[str]:
        """Return what the user answered with a few words: the question with the answer, and each sentence of it."""
        whole = f"{self.question} {self.typed[-1]}" if self.question else ""
        return [whole, *(one.text for one in parsed(self.question))] if whole else []


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
    judge = tools.judge
    if judge is None or not said.typed or any(steering(judge, [text])):
        return False
    return _spoken(tools, note, parsed(text), said) and any(_bearing(judge, text, said.told(), said.answered()))


def bears_on(judge: Judge, line: str, text: str) -> bool:
    """Whether a text says, of what a line says, nothing else."""
    return numbers(text) <= numbers(line) and any(_bearing(judge, line, [text], []))


def _bearing(judge: Judge, line: str, told: Sequence[str], answered: Sequence[str]) -> Iterator[bool]:
    """Yield of each passage whether it bears a line out; what was `answered` need only be about the same."""
    passages, parts = [*told, *answered], parsed(line)
    there = judge.relations([(passage, line) for passage in passages])
    back = judge.relations([(line, passage) for passage in passages])
    about = judge.about(passages) @ judge.about([line])[0]
    for n, passage in enumerate(passages):
        strangers = min(there[n].apart, back[n].apart) >= STRANGERS
        near = n >= len(told) and about[n] >= NEAR
        yield (not strangers or near) and _denies_alike(parts, parsed(passage))


def _spoken(tools: Tools, note: Note, line: Sequence[Sentence], said: Said) -> bool:
    """Whether every name and number of a line was said, or is a name that this place is known by."""
    typed = parsed("\n\n".join((*said.typed, said.question)))
    told = {number for one in line for _, number, _ in one.numbers}
    if not told <= {number for one in typed for _, number, _ in one.numbers}:
        return False
    heard_names = {root for one in (*typed, *parsed(said.beside)) for root in one.roots}
    names = {name for one in line for name in one.names} - heard_names
    place = {root for one in parsed(note.provenance.repository.replace("/", " ")) for root in one.roots}
    return all(name in place or tools.reader.mentions(name, 1)[0] for name in names)


def _denies_alike(line: Sequence[Sentence], passage: Sequence[Sentence]) -> bool:
    """Whether both deny as often, or neither denies what the line speaks of: "no numbers without" is not "without"."""
    mine, theirs = ([root for one in some for root in one.denied] for some in (line, passage))
    if mine:
        return len(mine) == len(theirs)
    roots = frozenset[str]().union(*(one.roots for one in line))
    return roots.isdisjoint(theirs)
