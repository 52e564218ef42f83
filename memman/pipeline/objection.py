"""What the user's next message objects to of what was noted in the turn before, and what it says in its place."""

import re
from collections.abc import Mapping, Sequence
from itertools import takewhile

from memman.judge.judge import Judge
from memman.llm.builtin.extract import described
from memman.llm.builtin.turn import unaddressed
from memman.model.noted import parted
from memman.model.records import Fact, Hints, Note
from memman.model.text import answering
from memman.pipeline.comparison import SAME, numbers, parsed, same, says, stems
from memman.pipeline.heard import Heard, Said, answered
from memman.pipeline.plan import Tools
from memman.pipeline.replies import fact

# An objection to what was noted is of so many words at most. Only "no" and "wrong", or one of the phrases alone, it
# answers nothing. With more it is about a line: it says what that says, or names its number, or any of it, or another.
OBJECTING = 16
_NO, _TURNING = ("no", "wrong"), ("oops", "wait")
_UNNOTED = ("don't note", "don't keep", "forget that", "i never said", "i didn't say")
_WRONG = (
    "that's wrong",
    "that's not right",
    "that's not true",
    "that's not what i said",
    "that's not what i meant",
)
_CORRECTING = ("i said", "i meant", "meant")
_POINTING = ("that", "this", "it")
# Memories of the session that may have been noted in the turn before.
_NOTED = 8
# A relation that ends a line so probably objects to it.
_ENDED = 0.5


def objected(tools: Tools, note: Note) -> list[int]:
    """Return the memories that the agent noted in the turn before and the user's next message objects to."""
    if note.channel not in {"turn", "watched"} or not note.provenance.session:
        return []
    lines = _noted_before(note)
    rows = tools.reader.rows(tools.reader.newest_of(note.provenance.origin, _NOTED) if lines else ()).values()
    noted = [row for row in rows if row.note in note.shown and any(same(row.text, line) for line in lines)]
    said = Heard.of(note, tools.judge).spoken if noted else None
    texts = {row.id: row.text for row in noted}
    return _denied(tools.judge, said.typed[0], texts, answer=said.question) if said else []


def _noted_before(note: Note) -> list[str]:
    """Return the lines that the agent noted in the turn before."""
    return [line for line, _, _ in parted(answered(note.reply)[0])[1]]


def correction(judge: Judge, note: Note, said: Said) -> tuple[Fact, ...]:
    """Return what the user said in place of the one line of the turn before that they object to, with that line."""
    lines = dict(enumerate(_noted_before(note)))
    denied = _denied(judge, said.typed[0], lines, answer=said.question) if lines and said.typed else []
    if len(denied) != 1 or judge.steering([lines[denied[0]]])[0]:
        return ()
    line, (_, begun, rest) = lines[denied[0]], _opened(said.typed[0])
    news = stems(rest) - stems(line) or _figures(rest) - _figures(line)
    if not news or begun in _UNNOTED or any(one.denied for one in parsed(rest)):
        return ()
    told = answering(unaddressed(" ".join(said.typed[0].split())), line)
    return (fact(described(told, judge.lines([line])[0][1]), Hints()),)


def _denied(judge: Judge, typed: str, lines: Mapping[int, str], *, answer: str) -> list[int]:
    """Return those of the noted `lines` that what a user typed, which may `answer` a question, objects to."""
    opening, begun, rest = _opened(typed)
    if not 0 < len(_words(typed)) <= OBJECTING:
        return []
    no = bool(opening) and opening != ["wait"]
    if begun in _CORRECTING:
        return _corrected(rest, lines) if no and not answer else []
    if not rest or (begun and rest in _POINTING):
        return [] if answer or not (begun or {*opening} <= {*_NO}) else [*lines]
    if begun in _UNNOTED:
        counts = _figures(rest)
        return [n for n, line in lines.items() if says([rest], line, SAME) or (counts and says([line], rest, 1))]
    if begun:
        named = [n for n, line in lines.items() if not stems(rest).isdisjoint(stems(line))]
        return named or _corrected(_begun(rest, _CORRECTING)[1], lines)
    bare = _corrected(rest, lines, bare=True) if no and not answer else []
    return bare or [n for n, line in lines.items() if no and judge.relation(line, typed).ends >= _ENDED]


def _words(text: str) -> list[str]:
    return re.findall(r"[\w']+", text.lower().replace("\u2019", "'"))


def _opened(typed: str) -> tuple[list[str], str, str]:
    """Return with what words a message turns round what was said, by which phrase then, and what comes after."""
    words = _words(typed)
    opening = [*takewhile((*_NO, *_TURNING).__contains__, words)]
    return opening, *_begun(" ".join(words[len(opening) :]), (*_UNNOTED, *_WRONG, *_CORRECTING))


def _begun(said: str, phrases: Sequence[str]) -> tuple[str, str]:
    """Return the one of `phrases` that begins what was said, '' for none, and what comes after it."""
    begun = next((one for one in phrases if f"{said} ".startswith(f"{one} ")), "")
    return begun, said.removeprefix(begun).strip()


def _corrected(said: str, lines: Mapping[int, str], *, bare: bool = False) -> list[int]:
    """Return the line that has another number and all other words of what was said, none where two are as near.

    What is said so `bare` has no word at all, however little it tells, that the line has not.
    """
    words = [word for word in said.split() if not _figures(word)]
    about = stems(" ".join(words))
    lines = {n: line for n, line in lines.items() if not bare or {*words} <= {*_words(line)}}
    near = {
        n: len(about & stems(line))
        for n, line in lines.items()
        if _figures(line) and _figures(said) - _figures(line) and about <= stems(line)
    }
    nearest = [n for n, shared in near.items() if shared == max(near.values())]
    return nearest if len(nearest) == 1 else []


def _figures(text: str) -> set[str]:
    """Return the numbers of a text, written in digits or as words."""
    return numbers(text) | {figure for one in parsed(text) for _, figure, _ in one.numbers}
