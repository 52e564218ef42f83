"""The extract task: a note's text → facts, those of a document with its title."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice, takewhile
from typing import Any

from memman.config.places import split_lines
from memman.judge.judge import Judge
from memman.llm.builtin.entities import entities
from memman.llm.builtin.markdown import headed
from memman.llm.builtin.split import MAX_FACTS, refers, sentences, split
from memman.model.records import DEFAULT_IMPORTANCE
from memman.model.terms import stems

LONG, _CLAUSE = 200, 120  # characters: when a summary is worth having, and how long it may be
_BREAK = re.compile(r"[.;!?](?=\s)|,(?=\s)|\s[—\u2013-]\s|\n|[。\uff01\uff1f\uff1b\uff0c]")


def summary(text: str) -> str:
    """Give the first clause of a long text, or '' when the text is short enough to be its own summary."""
    if len(text) <= LONG:
        return ""
    ends = [match.start() for match in _BREAK.finditer(text, 0, _CLAUSE)]
    end = next((at for at in ends if at >= _CLAUSE // 4), 0) or text.rfind(" ", 0, _CLAUSE)
    return text[: end if end > 0 else _CLAUSE].strip(" ,;:—\u2013-\n")


# A note of so many statements is a document: of it what is worth less than this is left out.
DOCUMENT = 6
WORTH = 0.4
# The sentences of a short paragraph are stored apart where each is worth this by itself and none refers to another;
# else what one says may be understood only with the rest (docs/adr/0036).
STANDS = 0.8
# How a statement begins that a line introduces, which all of its sentences may need: "Never: ".
_LED = re.compile(r"[^.!?:\n]{1,160}: ")
# A longer text is kept as it is, and not judged.
LONGEST = 16_000
# What each kind of statement is stored as.
CATEGORIES = {
    "preference": "preference",
    "rule": "preference",
    "decision": "decision",
    "fact": "fact",
}


def extract(payload: Mapping[str, Any], judge: Judge) -> dict[str, Any]:
    """Answer {"facts": [...]}; what the caller hinted wins over the judge."""
    hinted = tuple(payload.get("entities") or ())
    facts = []
    for text, kind, about in _kept(payload["text"], judge):
        told = described(titled(text, about), kind, hinted) | {"summary": titled(summary(text), about)}
        hints = {name: payload[name] for name in ("category", "importance") if payload.get(name)}
        facts.append(told | hints)
    return {"facts": facts}


def texts(payload: Mapping[str, Any]) -> list[str]:
    """Return what the judge reads."""
    statements = _stated(payload["text"])
    return [] if _too_long(statements) else ["\n".join(chain.from_iterable(_sentences(statements)))]


def described(text: str, kind: str, hinted: tuple[str, ...] = ()) -> dict[str, Any]:
    """Write a statement as a fact."""
    return {
        "text": text,
        "category": CATEGORIES[kind],
        "importance": DEFAULT_IMPORTANCE + (kind != "fact"),
        "entities": entities(text, hinted),
        "keywords": [],
        "summary": summary(text),
    }


def _stated(note: str) -> list[str]:
    """Return the statements of a note; a document's code states nothing by itself, unless there is nothing else."""
    statements = split(note)
    document = len(statements) >= DOCUMENT or headed(note)
    return (document and split(note, bare=False)) or statements


def _kept(note: str, judge: Judge) -> list[tuple[str, str, str]]:
    """Return (statement, kind, title) of what is kept of a note: all of it, except for asides of a document."""
    statements = _stated(note)
    if _too_long(statements):
        return [(text, "fact", "") for text in statements]
    found = [(text, worth, kind if worth >= WORTH else "fact") for text, worth, kind in rated(statements, judge)]
    if len(statements) < DOCUMENT:
        return [(text, kind, "") for text, _, kind in found]
    # Of a document in which nothing is, the best is kept: somebody wanted it remembered.
    best = max(worth for _, worth, _ in found)
    least = WORTH if best >= WORTH else best / 2
    kept = [(text, kind) for text, worth, kind in found if worth >= least or "\n" in text]
    about = title(note)
    if any(text.casefold() == about.casefold() for text, _ in kept):
        about = ""  # a statement like the others
    told = [(text, kind) for text, kind in kept if not (about and names(text, about))] or kept
    return [(text, kind, about) for text, kind in told]


def rated(statements: Sequence[str], judge: Judge) -> Iterator[tuple[str, float, str]]:
    """Yield (statement, worth, kind); those of which each sentence stands by itself, sentence by sentence."""
    cut = _sentences(statements)
    judged = iter(judge.lines([*chain.from_iterable(cut)]))
    for statement, parts in zip(statements, cut, strict=True):
        found = [(part, *next(judged)) for part in parts]
        alone = all(worth >= STANDS for _, worth, _ in found) and not any(map(refers, parts[1:]))
        if alone and (len(parts) == 1 or not _LED.match(statement)):
            yield from found
        else:
            _, worth, kind = max(found, key=lambda one: one[1])
            yield statement, worth, kind


def _sentences(statements: Sequence[str]) -> list[list[str]]:
    """Return the sentences of each statement, but of code, which has lines; where there are too many none is parted."""
    cut = [[one] if "\n" in one else sentences(one) for one in statements]
    return cut if sum(map(len, cut)) <= MAX_FACTS else [[one] for one in statements]


def _too_long(statements: Sequence[str]) -> bool:
    return sum(map(len, statements)) > LONGEST


# Letters of a title; a longer first line is a statement.
LONGEST_TITLE = 100
# Words of a first line that is a title though nothing marks it as one.
_WORDS = 3
# Lines in which a header names what the text is about.
_HEADER = 12
_SUBJECT = re.compile(r"\s*(?:subject|title)\s*:\s*(\S.*)", re.IGNORECASE)
_REPLY = re.compile(r"\A(?:(?:re|fwd?)\s*:\s*)+", re.IGNORECASE)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.*)")
_RULE = re.compile(r"\s*([-=*_#~])\1{2,}\s*")
# How talk, an item of a list, and what a program wrote, begin: a time, a quotation, a commit.
_TALK = re.compile(r"\s*(?:[\[<>(`]|\d{1,2}:\d\d|[-*+\u2022]\s|\d{1,3}[.)]\s|commit [0-9a-f]{7})")
_FIELD = re.compile(r"\s*[^\W\d_]{2,20}(?: \w{1,12})?:\s")
_SENDER = re.compile(r"\s*from\s*:", re.IGNORECASE)
_MARKS = " \t#*=_\"'"


def title(note: str) -> str:
    """Return what a document says it is about, '' where it does not."""
    lines = [line for line in split_lines(note) if line.strip() and not _RULE.fullmatch(line)]
    head = takewhile(lambda line: line.strip() and not line.lstrip().startswith("```"), split_lines(note.lstrip()))
    for line in islice(head, _HEADER):
        if subject := _SUBJECT.match(line):
            return _clean(_REPLY.sub("", subject[1]))
    first = lines[0] if len(lines) > 1 else ""
    if heading := _HEADING.match(first):
        return _clean(heading[1])
    if _TALK.match(first) or first.rstrip()[-1:] in ".,;!?":
        return ""
    second, third = (*split_lines(note.lstrip())[1:3], first, first)[:2]
    if _RULE.fullmatch(second):
        return _clean(first)
    # A date, who was there or who wrote it may stand below. Fewer words are as often a greeting.
    headed = not second.strip() or _FIELD.match(second) or not (third.strip() or second[:1].islower())
    return _clean(first) if headed and len(first.split()) >= _WORDS and not _SENDER.match(first) else ""


def titled(text: str, about: str) -> str:
    """Return a statement with the title of its document before it, unless it has all the words of that."""
    said = not text or about.casefold() in text.casefold() or stems(about) <= stems(text)
    return text if said else f"{about}: {text}"


def names(text: str, about: str) -> bool:
    """Whether a statement is the line that says what the document is about, and no more."""
    subject = _SUBJECT.match(text)
    return _clean(_REPLY.sub("", subject[1]) if subject else text).casefold() == about.casefold()


def _clean(line: str) -> str:
    said = " ".join(line.strip(_MARKS).rstrip(":").strip(_MARKS).split())
    return said if len(said) <= LONGEST_TITLE else ""
