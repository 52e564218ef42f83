"""The title of a document, which its statements need to be understood by themselves."""

import re
from itertools import islice

from memman.model.terms import stems

# Letters of a title; a longer first line is a statement.
LONGEST = 80
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
_FIELD = re.compile(r"\s*(?:\(|[^\W\d_]{2,20}(?: \w{1,12})?:\s)")
_ONE_WORD = re.compile(r"\s*[^\W\d_]+:\s")
_MARKS = " \t#*=_\"'"


def title(note: str) -> str:
    """Return what a document says it is about, '' where it does not."""
    lines = [line for line in note.splitlines() if line.strip() and not _RULE.fullmatch(line)]
    for line in islice(lines, _HEADER):
        if subject := _SUBJECT.match(line):
            return _clean(_REPLY.sub("", subject[1]))
    first = lines[0] if lines else ""
    if heading := _HEADING.match(first):
        return _clean(heading[1])
    if _TALK.match(first) or first.rstrip()[-1:] in ".,;!?":
        return ""
    following = next(iter(note.lstrip().splitlines()[1:]), first)
    alone = not following.strip() or bool(_RULE.fullmatch(following))
    return _clean(first) if alone or (_FIELD.match(following) and not _ONE_WORD.match(first)) else ""


def titled(text: str, about: str) -> str:
    """Return a statement with the title of its document before it, unless it has half of the words of that."""
    own = stems(about)
    return text if not own or 2 * len(own & stems(text)) >= len(own) else f"{about}: {text}"


def _clean(line: str) -> str:
    said = line.strip(_MARKS).rstrip(":").strip(_MARKS)
    return said if len(said) <= LONGEST else ""
