"""The title of a document, which its statements need to be understood by themselves."""

import re
from itertools import islice, takewhile

from memman.config.places import split_lines
from memman.model.terms import stems

# Letters of a title; a longer first line is a statement.
LONGEST = 100
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
    return said if len(said) <= LONGEST else ""
