"""Texts as people and agents see them: on one line, without secrets or what steers a terminal. Safe on the hot path."""

from time import localtime, strftime

from memman.secrets import legible, masked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# Characters of an id that are shown, and of a text, unless more are asked for.
SHORT_ID = 8
LONGEST = 600
# Joiners, fillers and variation selectors, which a reader does not see and Python calls printable all the same: a run
# of the last carries any text unseen.
SELECTORS = (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))
UNSEEN = dict.fromkeys((0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, 0xFFA0, *SELECTORS), "")
# What is said of a memory that holds no longer, and of one that names a file which has changed.
ENDED, CHANGED = "past its end", "file changed since"
# How what a statement answers begins, and characters that are told of it.
_ANSWERING, ANSWERED = ' (to: "', 120
_UNITS = ((86_400_000 * 365, "y"), (86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s"))
_NAMED_UNITS = (("days", 86_400), ("hours", 3600), ("minutes", 60))


def age(then: int, now: int) -> str:
    """Write how long ago `then` was, both in milliseconds, in its largest whole unit: 3h."""
    passed = max(0, now - then)
    return next((f"{passed // unit}{letter}" for unit, letter in _UNITS if passed >= unit), "now")


def day(then: int) -> str:
    """Write the day of a moment in milliseconds, here: 2026-11-01."""
    return strftime("%Y-%m-%d", localtime(then / 1000))


def outdated(ends_at: int | None, file_changed_at: int | None, now: int) -> dict[str, int]:
    """Return the labels of what makes a memory doubtful, each with since when."""
    found = {}
    if ends_at is not None and ends_at <= now:
        since = age(ends_at, now)
        found[ENDED if since == "now" else f"{ENDED} {since} ago"] = ends_at
    if file_changed_at is not None and file_changed_at <= now:
        found[CHANGED] = file_changed_at
    return found


def duration(seconds: float) -> str:
    """Write a length of time for a sentence, in the largest unit of which it has two: 3 hours."""
    named = (f"{seconds / size:.0f} {unit}" for unit, size in _NAMED_UNITS if seconds >= 2 * size)
    return next(named, "1 second" if round(seconds) == 1 else f"{seconds:.0f} seconds")


def questions(keywords: "Iterable[str]") -> list[str]:
    """Return those of a memory's keywords that are questions it answers: it is found by them, they are never shown."""
    return [one for one in keywords if one.endswith("?")]


def without_questions(keywords: "Iterable[str]") -> list[str]:
    """Return the keywords of a memory that may be shown."""
    return [one for one in keywords if not one.endswith("?")]


def clean(text: str, longest: int = LONGEST) -> str:
    """Take secrets out of text and make it `plain`."""
    return plain(masked(text), longest)


def plain(text: str, longest: int = LONGEST) -> str:
    """Put text on one line without control, bidi, zero-width, tag or filler characters, cut to `longest`."""
    if not text.isascii():
        text = text.translate(UNSEEN)
    if not text.isprintable():
        text = legible(text)
        text = " ".join("".join(c if c.isprintable() else " " if c.isspace() else "" for c in text).split())
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


def escaped(text: str) -> str:
    """Write as escapes what a reader of JSON would not see; it says the same."""
    if text.isascii() and text.isprintable():
        return text
    unseen = {ord(c): codes(c) for c in {*text} - {"\n"} if not c.isprintable() or ord(c) in UNSEEN}
    return text.translate(unseen)


def codes(text: str) -> str:
    """Write characters as JSON's escapes, each by its one or two units of UTF-16."""
    raw = text.encode("utf-16-be", "surrogatepass")
    return "".join([f"\\u{raw[at]:02x}{raw[at + 1]:02x}" for at in range(0, len(raw), 2)])


def opposed(uid: str, count: int = 1, *, sure: bool = True) -> str:
    """Write what an unconfirmed memory contradicts: one memory, and how many in all."""
    more = f" and {count - 1} more" if count > 1 else ""
    return f"{'' if sure else 'maybe '}against {uid[:SHORT_ID]}{more}"


def replaced(uid: str, until: int | None = None) -> str:
    """Write what a memory is maybe replaced by, or what holds in its place until a moment, in Unix milliseconds."""
    if until is None:
        return f"maybe replaced by {uid[:SHORT_ID]}"
    return f"suspended by {uid[:SHORT_ID]} until {strftime('%Y-%m-%d %H:%M', localtime(until / 1000))}"


def answering(statement: str, question: str) -> str:
    """Return a statement with what it answers, told behind it: `At seven. (to: "When is it to run?")`."""
    return f'{statement}{_ANSWERING}{plain(question.replace(chr(34), chr(39)), ANSWERED)}")'


def said(text: str) -> str:
    """Return a statement without what it answers: that is context, and nobody's word."""
    statement, _, question = text.rpartition(_ANSWERING)
    return statement if question.endswith('")') and '"' not in question[:-2] else text
