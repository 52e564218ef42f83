"""The title of a document, which its statements need to be understood by themselves."""

import re
from itertools import islice

from memman.model.terms import stems

# Letters of a title; a longer first line is a statement.
LONGEST = 100
# Lines in which a header names what the text is about.
_HEADER = 12
_SUBJECT = re.compile(
    r"\s*(?:subject|title|betreff|titel|objet|titre|asunto|assunto|t\u00edtulo|onderwerp|emne|oggetto|\u4e3b\u9898|\u6807\u9898)\s*[:\uff1a]\s*(\S.*)",
    re.IGNORECASE,
)
_REPLY = re.compile(r"(?:(?:re|aw|fwd?|wg|sv|tr|rv|enc)\s*:\s*)+", re.IGNORECASE)
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(\S.*)")
_RULE = re.compile(r"\s*([-=*_#~])\1{2,}\s*")
# How talk, and what a program wrote, begins: a time, a quotation, a commit.
_TALK = re.compile(r"\s*(?:[\[<>(]|\d{1,2}:\d\d|commit [0-9a-f]{7})")
_FIELD = re.compile(r"\s*[^\W\d_]{2,20}(?: \w{1,12})?:\s")
_SENDER = re.compile(r"\s*(?:from|von|de|da|fra|van|\u53d1\u4ef6\u4eba)\s*[:\uff1a]", re.IGNORECASE)
_MARKS = " \t#*=_\"'"


def title(note: str) -> str:
    """Return what a document says it is about, '' where it does not."""
    lines = [line for line in note.splitlines() if line.strip() and not _RULE.fullmatch(line)]
    for line in islice(lines, _HEADER):
        if subject := _SUBJECT.match(line):
            return _clean(_REPLY.sub("", subject[1]))
    first = lines[0] if len(lines) > 1 else ""
    if heading := _HEADING.match(first):
        return _clean(heading[1])
    if _TALK.match(first) or first.rstrip()[-1:] in ".,;!?":
        return ""
    second, third = (*note.lstrip().splitlines()[1:3], first, first)[:2]
    alone = not second.strip() or _RULE.fullmatch(second)
    # A date, who was there or who wrote it may stand below.
    headed = _FIELD.match(second) or not (third.strip() or second[:1].islower())
    return _clean(first) if alone or (headed and not _SENDER.match(first)) else ""


def titled(text: str, about: str) -> str:
    """Return a statement with the title of its document before it, unless it has all the words of that."""
    own = stems(about)
    return text if own <= stems(text) else f"{about}: {text}"


def names(text: str, about: str) -> bool:
    """Whether a statement is hardly more than the title of its document."""
    return len(stems(text) - stems(about)) <= 1


def _clean(line: str) -> str:
    said = line.strip(_MARKS).rstrip(":").strip(_MARKS)
    return said if len(said) <= LONGEST else ""
