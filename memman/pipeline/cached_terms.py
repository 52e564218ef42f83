"""The stems and the wording of texts that a drain meets again and again."""

from functools import lru_cache

from memman.model import terms

# Texts kept: the candidates of a few hundred notes.
KEPT = 4_096

stems = lru_cache(KEPT)(terms.stems)
_wording = lru_cache(KEPT)(terms.wording)


def same(one: str, other: str) -> bool:
    """Whether two texts are one statement, of one wording.

    Who turns a rule round needs no other words than the rule ("npm, not pnpm"), so likeness decides nothing here.
    """
    return _wording(one) == _wording(other)
