"""Whose change a sentence tells: "the EU tenant", "builds", or nobody in particular."""

from functools import lru_cache

from memman.llm.builtin.grammar import ASIDES, LINKS, PREPOSITIONS, VACUOUS
from memman.llm.builtin.patterns import wordset
from memman.llm.builtin.roles import TIMES
from memman.llm.builtin.statement import Sentence, Word, root

# "We", the project and its like: a change of theirs is a change of no subject in particular.
_NOBODY = frozenset(
    map(
        root,
        """we i they you project team repo repository codebase company everyone everybody everything
        all whole entire""".split(),
    )
)
_PRONOUNS = wordset("we i they you")
_CHANGES = wordset(
    """moved migrated switched changed converted ported transitioned went gone shifted bumped upgraded downgraded
    updated increased decreased raised lowered reduced cut renamed rewrote rewritten swapped flipped extended
    shortened relocated grew dropped jumped rose fell reverted rolled replaced exchanged traded superseded succeeded
    replaces supersedes succeeds took takes ended going back away off up down out again no not longer anymore rather
    finally recently completely entirely fully officially eventually retired removed deprecated ditched abandoned
    stopped quit lieu place favor favour now""",
)
_DATING = wordset("last next this in on since yesterday today recently finally")
# After these such a word is what is done; elsewhere it is what changed: "we now build", "builds moved".
_LEADING = wordset("we i they you now again and to stopped quit not longer back")
_DOING = wordset(
    """using use uses used running run runs deploy deploying deploys host hosting build building rely relying depend
    test store need have""",
)


@lru_cache(maxsize=1024)
def subject_of(sentence: Sentence, *ends: tuple[Word, ...]) -> frozenset[str]:
    """Gather what the change in `sentence` befalls: all it names besides the change, its `ends` and its time."""
    stop = next((i for i, word in enumerate(sentence.words) if i > 1 and word.form in ASIDES), None)
    words = sentence.words[:stop]
    known = {i for end in ends for i in _places(words, end)}
    first, last = min(known, default=len(words)), max(known, default=len(words))
    return frozenset(
        word.stem
        for i, word in enumerate(words)
        if i >= _begin(words[:first]) and not (i in known or _idle(words, i) or (i > last and word.stem in TIMES))
    )


def _places(words: tuple[Word, ...], end: tuple[Word, ...]) -> range:
    """Find where an end of the change stands, at its last mention: "store 1 moved to shard 1"."""
    stems, wanted = [word.stem for word in words], [word.stem for word in end]
    size = len(wanted)
    at = next((i for i in range(len(stems) - size, -1, -1) if stems[i : i + size] == wanted), None)
    return range(0) if at is None else range(at, at + size)


def _begin(words: tuple[Word, ...]) -> int:
    """Find where the subject begins after "last week we", "in March," or "yesterday"."""
    begin = max((i + 1 for i, word in enumerate(words) if word.form in _PRONOUNS or word.closed), default=0)
    if begin == 0 and words and words[0].form in _DATING:
        return 2 if len(words) > 1 and words[1].stem in TIMES else int(words[0].stem in TIMES)
    return begin


def _idle(words: tuple[Word, ...], i: int) -> bool:
    form = words[i].form
    if form in VACUOUS or form in PREPOSITIONS or form in LINKS or form in _CHANGES or words[i].stem in _NOBODY:
        return True
    return form in _DOING and i > 0 and words[i - 1].form in _LEADING
