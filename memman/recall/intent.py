"""What a question is after: why, when, a thing, or anything. Safe on the hot path."""

from itertools import pairwise

from memman.model.terms import words


def _cues(**by_intent: str) -> dict[str, frozenset[str]]:
    return {intent: frozenset(cues.split()) for intent, cues in by_intent.items()}


# By what a question begins with, and else by what is in it: words and pairs of words, the most telling intent first.
_FIRST = _cues(why="why because explain", when="when", entity="who whom whose which describe")
_ANYWHERE = _cues(
    why="""why reason reasons because cause causes caused motivation motivated motive rationale justify justifies
    justified purpose how+come what+led led+to made+us made+me what+made root+cause what+grounds triggered prompted""",
    when="""when ago yesterday today recent recently lately latest newest since history timeline last+week last+month
    last+quarter last+year last+night last+time how+long what+time what+date what+day what+month what+year which+day
    which+month which+year which+week this+week this+month this+year this+morning date+of""",
    entity="who whom whose what+is what+are what+s what+was what+does tell+me everything+about know+about",
)


def guess(query: str, *, timed: bool = False) -> str:
    """Return 'why', 'when', 'entity' or 'general'; a query that is `timed` names a time."""
    plain = [word.lower() for word in words(query)]
    first = _heard(_FIRST, set(plain[:1]))
    if first:
        return first[0]
    found = _heard(_ANYWHERE, {*plain, *(f"{one}+{other}" for one, other in pairwise(plain))})
    if timed and "why" not in found:
        return "when"
    return found[0] if found else "general"


def _heard(cues: dict[str, frozenset[str]], said: set[str]) -> list[str]:
    return [intent for intent, known in cues.items() if not known.isdisjoint(said)]
