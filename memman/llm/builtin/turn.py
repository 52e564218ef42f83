"""The turn task: what a user's own words, or a summary of a session, state for good → facts."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

from memman.judge.judge import Judge, Span
from memman.llm.builtin.extract import STANDS, described
from memman.llm.builtin.split import MAX_CHARS, asks, breaks, extent, extents, leans, sentences

MAX_FACTS = 8  # of one turn; who says more at once is writing a document
# A span is kept from this worth on, and one of what an agent tells of a session from the other (docs/adr/0036).
WORTH, TOLD = 0.82, 0.88
# So many sentences are read together; of more, each by itself, for among many hardly one seems worth keeping.
TOGETHER = 4
# What parts the items of a list, and paragraphs.
_ITEM = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*+\u2022#>]|\d{1,3}[.)])\s)")
# Letters; anything shorter says nothing by itself.
_SHORTEST = 6
_EDGES = " \t\n,;\uff0c\uff1b"
# Signs that a piece of a sentence begins or ends with; those of an option or a tag are its own.
_BEFORE = re.compile(r"[-\u2014\u2013:(]\s+|[\u2014\u2013(\uff1a]")
# The short word that begins a sentence whose rest is worth keeping: "We never ...", "The user prefers ...".
_OPENING = re.compile(r"(?:^|[\n.!?]\s*|[-*]\s+)([^\W\d_]{1,4}\s)$")
_NEAR = 12
# What only joins a sentence to the one before: "and always ..." after a task needs not the task.
_JOINS = re.compile(r"(?:and|but|or|so|then|also|however)\b", re.IGNORECASE)
_AFTER = ":-\u2014\u2013(\uff1a"


def turn(payload: Mapping[str, Any], judge: Judge | None) -> dict[str, Any]:
    """Answer {"facts": [...], "statements": [...]}.

    Facts are what the user corrected, preferred or decided, as said; mostly nothing. Statements are all that the user
    says but questions.
    """
    own = [_fact(text, kind, "user") for text, kind in _worth(payload["user"], judge, WORTH)]
    told = [_fact(text, kind, "agent") for text, kind in _worth(payload["summary"], judge, TOLD) if kind != "fact"]
    # What both say is the user's.
    facts = list({fact["text"]: fact for fact in (*own, *told, *own)}.values())[:MAX_FACTS]
    return {"facts": facts, "statements": [_fact(text, "fact", "user") for text in _statements(payload["user"])]}


def texts(payload: Mapping[str, Any]) -> list[str]:
    """Return what the judge reads."""
    return [said[start:end] for said in (payload["user"], payload["summary"]) for start, end in _read(said)]


def worth(said: str, judge: Judge) -> float:
    """Return how likely anything in a text is worth keeping."""
    return max((span.worth for span in _spans(said, judge)), default=0.0)


def _worth(said: str, judge: Judge | None, least: float) -> Iterator[tuple[str, str]]:
    """Yield (text, kind) of what is worth keeping, each so that it can be understood by itself."""
    if judge is None or not said:
        return
    kept: list[tuple[str, str]] = []
    for span in _spans(said, judge):
        before, own = leaning(said, span)
        if span.worth < least or extent(own) < _SHORTEST or asks(own):
            continue
        if kept and kept[-1][0] in before:
            kept.pop()
        kept.append((f"{before} {own}".strip(), span.kind))
    yield from kept


def _spans(said: str, judge: Judge) -> Iterator[Span]:
    pieces = _read(said)
    found = judge.spans_of([said[start:end] for start, end in pieces])
    for (at, _), spans in zip(pieces, found, strict=True):
        for span in spans:
            yield from _parted(said, replace(span, start=at + span.start, end=at + span.end), judge)


def _parted(said: str, span: Span, judge: Judge) -> list[Span]:
    """Part a span at line breaks where each of the lines stands by itself."""
    cuts = [span.start + at for at in breaks(said[span.start : span.end])]
    if not cuts:
        return [span]
    parts = list(pairwise((span.start, *cuts, span.end)))
    read = judge.lines([said[start:end].strip() for start, end in parts])
    if min(worth for worth, _ in read) < STANDS:
        return [span]
    return [replace(span, start=start, end=end, kind=kind) for (start, end), (_, kind) in zip(parts, read, strict=True)]


def _read(said: str) -> list[tuple[int, int]]:
    """Return where what is read by itself begins and ends: a short text as a whole, each sentence of a longer one."""
    found, start = [], 0
    for item in (*_ITEM.finditer(said), None):
        end = item.start() if item else len(said)
        found += [(start + first, start + last) for first, last in extents(said[start:end])]
        start = item.end() if item else end
    found = [(first, last) for first, last in found if said[first:last].strip()]
    return found if len(found) > TOGETHER else [(0, len(said))] if said else []


def leaning(said: str, span: Span) -> tuple[str, str]:
    """Return the sentence that the words of a span lean on, '' where they can stand by themselves, and these words."""
    opening = _OPENING.search(said, max(0, span.start - _NEAR), span.start)
    start = opening.start(1) if opening else span.start
    own = " ".join(said[start : span.end].split()).strip(_EDGES)
    while sign := _BEFORE.match(own):
        own = own[sign.end() :].lstrip(_EDGES)
    own = own.rstrip(_EDGES + _AFTER)
    if said[span.end : span.end + 1] in {".", "!", "\u3002", "\uff01"}:
        own += said[span.end]
    before = sentences(said[:start])[-1:] if leans(own) and not _JOINS.match(own) else []
    return (before[0], own) if before and len(before[0]) + len(own) < MAX_CHARS else ("", own)


def _statements(said: str) -> Iterator[str]:
    for paragraph in said.split("\n\n"):
        for sentence in sentences(paragraph):
            if len(sentence) <= MAX_CHARS and not asks(sentence):
                yield sentence


def _fact(text: str, kind: str, speaker: str) -> dict[str, Any]:
    return described(text, kind) | {"speaker": speaker}
