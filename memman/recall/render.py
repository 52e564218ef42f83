"""Hits as compact text: one line each with id, age, source and text. Safe on the hot path."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from memman.recall.hit import Hit

SHORT_ID = 8
LONGEST = 600
# Tokens are counted as GPT-4's pre-tokenizer (cl100k_base) parts a text: into runs of letters with the blank before
# them, digits by threes, punctuation, and what blanks are left. What a part then costs is set so that English prose,
# 4/3 tokens a word by OpenAI's rule of thumb, comes out dearer than it is by a quarter at most: five letters a token,
# three capitals, one mark, and two bytes of what is not ASCII.
_LETTERS, _CAPITALS, _DIGITS, _BYTES = 5, 3, 3, 2
# The kind of each byte: end of line or control, blank, mark, digit, capital, letter, part of what is not ASCII.
_KINDS = b"".join(
    (b"\n" * 32, b" ", b"." * 15, b"0" * 10, b"." * 7, b"A" * 26, b"." * 6, b"a" * 26, b"." * 4, b"x" * 129)
)
# All that is not of a kind as a blank.
_ONLY = {kind: b" " * kind + bytes((kind,)) + b" " * (255 - kind) for kind in b"aA0"}
_AGES = ((86_400_000 * 365, "y"), (86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"))
LOW_TRUST = ("tool", "web")


def age(then: int, now: int) -> str:
    """Write how long ago `then` was, in its largest whole unit."""
    passed = max(0, now - then)
    return next((f"{passed // unit}{letter}" for unit, letter in _AGES if passed >= unit), "now")


def clean(text: str, longest: int = LONGEST) -> str:
    """Put text on one line without control, bidi or zero-width characters, cut to `longest`."""
    if not text.isprintable():
        text = " ".join("".join(c if c.isprintable() else " " if c.isspace() else "" for c in text).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def short(hit: "Hit") -> str:
    """Return the id to show: a memory's beginning, a note's ending (where its chance is)."""
    uid = str(hit.row[1])
    return uid[-SHORT_ID:] if hit.pending else uid[:SHORT_ID]


def line(hit: "Hit", now: int) -> str:
    """Write one hit."""
    row = hit.row
    marks = [str(row[9]) + (" (unverified)" if row[9] in LOW_TRUST else "")]
    if row[15] != "current":
        marks.append(str(row[15]))
    return f"{short(hit)} {age(row[11], now)} {', '.join(marks)}: {clean(row[3])}"


def lines(hits: "Iterable[Hit]", now: int, budget: int | None, *, explain: bool) -> list[str]:
    """Write hits until `budget` tokens are used up."""
    written: list[str] = []
    used = 0
    for hit in hits:
        text = line(hit, now)
        used += tokens(text)
        if budget is not None and used > budget:
            break
        written.append(text)
        if explain:
            written.append(explained(hit))
    return written


def tokens(text: str) -> int:
    """Estimate how many tokens a line costs with its end, rather more than fewer."""
    kinds = text.encode(errors="replace").translate(_KINDS)
    # The capital that a word begins with is no part of its own.
    words = _parts(kinds, "a", _LETTERS) + _parts(kinds, "A", _CAPITALS) - kinds.count(b"Aa")
    blanks = kinds.count(b" 0") + kinds.count(b"  ") + kinds.count(b"\n")
    marks = kinds.count(b".") + -(-kinds.count(b"x") // _BYTES)
    return words + _parts(kinds, "0", _DIGITS) + marks + blanks + 1


def _parts(kinds: bytes, kind: str, size: int) -> int:
    """Count the parts of `size` in the runs of a kind."""
    return sum(-(-len(run) // size) for run in kinds.translate(_ONLY[ord(kind)]).split())


def explained(hit: "Hit") -> str:
    """Write a hit's ranks and factors."""
    parts = [f"score {hit.score:.3f}"]
    if hit.text_rank:
        parts.append(f"words #{hit.text_rank} bm25 {hit.text_score:.2f}")
    if hit.cosine is not None:
        parts.append(f"meaning #{hit.meaning_rank} cosine {hit.cosine:.3f}")
    parts.append(f"covers {hit.coverage:.0%} of the query")
    if not hit.pending:
        parts.append(f"nudge {hit.nudge:.3f}")
    if hit.stands_for:
        parts.append(f"found as what superseded row {hit.stands_for}")
    if hit.via:
        parts.append(f"{hit.via[0]} edge from row {hit.via[1]}")
    return "    " + ", ".join(parts)
