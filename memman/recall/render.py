"""Hits as compact text: one line each with id, age, source and text. Safe on the hot path."""

from memman.belief import sourced
from memman.model.terms import stems
from memman.model.text import SHORT_ID, age, plain, replaced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memman.recall.hit import Hit

# Tokens are counted as GPT-4's pre-tokenizer (cl100k_base) parts a text: into runs of letters with the blank before
# them, digits by threes, punctuation, and what blanks are left. What a part then costs is set so that English prose,
# 4/3 tokens a word by OpenAI's rule of thumb, comes out dearer than it is by a quarter at most: five letters a token,
# three capitals, one mark, and two bytes of what is not ASCII.
_LETTERS, _CAPITALS, _DIGITS, _BYTES = 5, 3, 3, 2
# The kind of each byte: end of line or control, blank, mark, digit, capital, letter, part of what is not ASCII.
_BYTE_KINDS = b"".join(
    (b"\n" * 32, b" ", b"." * 15, b"0" * 10, b"." * 7, b"A" * 26, b"." * 6, b"a" * 26, b"." * 4, b"x" * 129)
)
# All that is not of a kind as a blank.
_ONLY = {kind: b" " * kind + bytes((kind,)) + b" " * (255 - kind) for kind in b"aA0"}

# Characters of a text that is told whole: what answers a question is mostly what that does not say. Of 240 questions
# about six repositories 213 are answered in three lines so, by summaries alone 205, for 286 tokens instead of 266.
_WHOLE = 500


def short(hit: "Hit") -> str:
    """Return the id to show: a memory's beginning, a note's ending (where its chance is)."""
    return hit.row.uid[-SHORT_ID:] if hit.pending else hit.row.uid[:SHORT_ID]


def line(hit: "Hit", now: int) -> str:
    """Write one hit, its text whole."""
    return head(hit, now) + plain(hit.row.text)


def head(hit: "Hit", now: int) -> str:
    """Write what stands before a hit's text."""
    row = hit.row
    marks = [sourced(row.source, verified=hit.verified)]
    if hit.scope:
        marks.append(f"in {plain(hit.scope)}")
    if row.status != "current":
        marks.append(row.status)
    if hit.maybe_replaced_by:
        marks.append(replaced(hit.maybe_replaced_by, hit.until))
    marks += hit.labels
    if hit.doubtful:
        marks.append("low confidence")
    if hit.alike:
        marks[-1] += f" (+{len(hit.alike)} alike)"
    return f"{short(hit)} {age(row.valid_from, now)} {', '.join(marks)}: "


def abridged(hit: "Hit", asked: frozenset[str]) -> str:
    """Return a hit's text, or of a long one its summary where that holds every stem asked for that the text holds."""
    text, summary = hit.row.text, hit.row.summary
    if not summary or len(text) <= _WHOLE or asked & stems(text) - stems(summary):
        return plain(text)
    return plain(summary).rstrip("…. ") + "…"


def lines(hits: "Sequence[Hit]", now: int, query: str, budget: int | None) -> list[str]:
    """Write each hit on one line, until `budget` tokens are used up; a first hit is cut to fit."""
    asked = stems(query)
    written: list[str] = []
    left = budget
    for hit in hits:
        start, text = head(hit, now), abridged(hit, asked)
        if left is not None:
            text = text if written else fitted(start, text, left)
            if tokens(start + text) > left:
                break
            left -= tokens(start + text)
        written.append(start + text)
    return written


def fitted(start: str, text: str, room: int) -> str:
    """Cut `text` so that it costs at most `room` behind `start`; where not a character would fit, leave it."""
    if tokens(start + text) <= room:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens(start + text[:middle] + "…") <= room else (low, middle - 1)
    return text[:low].rstrip() + "…" if low else text


def tokens(text: str) -> int:
    """Estimate how many tokens a line costs with its end, rather more than fewer."""
    kinds = text.encode(errors="replace").translate(_BYTE_KINDS)
    # The capital that a word begins with is no part of its own.
    words = _parts(kinds, "a", _LETTERS) + _parts(kinds, "A", _CAPITALS) - kinds.count(b"Aa")
    blanks = kinds.count(b" 0") + kinds.count(b"  ") + kinds.count(b"\n")
    marks = kinds.count(b".") + -(-kinds.count(b"x") // _BYTES)
    return words + _parts(kinds, "0", _DIGITS) + marks + blanks + 1


def _parts(kinds: bytes, kind: str, size: int) -> int:
    """Count the parts of `size` in the runs of a kind."""
    return sum(-(-len(run) // size) for run in kinds.translate(_ONLY[ord(kind)]).split())
