"""Whether one text says what another does: in its words, or as the judge reads both."""

from collections.abc import Sequence

from memman.judge.judge import Judge, Relation
from memman.model.terms import respelled
from memman.pipeline.comparison import faithful, in_order, numbers, original, same, says

# Two texts say the same where the judge finds them, either way round, so probably the same, and a change so improbable;
# what as probably changes a memory is proposed, however like it. With SAME and REVISED, of 56 paraphrases by five
# writers 15 are known again, and none of 711 other statements that speak of the same thing.
SAME, CHANGED, REVISED = 0.5, 0.1, 0.25
# An agent says again what is as probably the same, or less, and ends it not so probably: that is news, however like it.
REPHRASED, NEWS = 0.25, 0.43
_ALL = 1.0


def says_so(judge: Judge, said: str, text: str) -> bool:
    """Whether what was `said` says all that `text` does: in its words, or as the judge reads its likest sentences."""
    if says([said], text, _ALL) and faithful(text, said) and in_order(text, said):
        return True
    likest = original(text, said)
    return bool(likest) and exact(text, said) and bool(_either_way(judge, text, [likest], CHANGED))


def says_again(judge: Judge, text: str, others: Sequence[str]) -> bool:
    """Whether one of `others` says what a text does: in its words, or as the judge reads both."""
    if any(same(other.casefold(), text.casefold()) for other in others):
        return True
    return any(exact(text, other) for other in _either_way(judge, text, others, REVISED))


def rephrases(relation: Relation, text: str, known: str) -> bool:
    """Whether a text is what is known in other words, and no change."""
    return relation.same >= REPHRASED and relation.ends < NEWS and exact(text, known)


def exact(text: str, other: str) -> bool:
    """Whether no number of a text is new to another, and no name is spelled otherwise."""
    return numbers(text) <= numbers(other) and not respelled(text, other)


def _either_way(judge: Judge, text: str, others: Sequence[str], changed: float) -> list[str]:
    """Return those of `others` that the judge finds to say the same as a text, whichever was said first."""
    judged = judge.relations([pair for other in others for pair in ((other, text), (text, other))])
    both = zip(others, judged[::2], judged[1::2], strict=True)
    return [other for other, a, b in both if min(a.same, b.same) >= SAME and max(a.ends, b.ends) < changed]
