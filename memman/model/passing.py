"""Whether a statement says that it holds only for now, without naming a date: for now, this sprint, vorerst, 当面.

Adverbs of time that mean nothing else, in eight languages, and some that mean it where a sentence begins with them:
"Temporarily, Dana has admin", but not "files are stored temporarily". What stands in quotes or code is only named. Not
for the hot path: imports re.
"""

import re

_SPACED = """
    for now|for the moment|for the time being|until further notice|this sprint
    vorerst|vorläufig|bis auf weiteres|fürs erste|diesen sprint|in diesem sprint
    pour l'instant|pour le moment|jusqu'à nouvel ordre|ce sprint
    por ahora|de momento|por el momento|por lo pronto|hasta nuevo aviso|este sprint
    por enquanto|por ora|até segunda ordem|até novo aviso|neste sprint|nesta sprint
    пока что|на данный момент|до дальнейшего уведомления|в этом спринте
"""
_FIRST = """
    temporarily|provisionally|übergangsweise|vorübergehend|temporairement|provisoirement|temporalmente|provisionalmente
    temporariamente|provisoriamente|временно
"""
# What such an adverb says of a kind of thing, not of the statement: "Temporarily disabled accounts keep their data".
_OF_A_THING = r"(?!\s+\w+(?:ed|te[nrs]?|ene[nrs]?|ée?s?|[ai]d[ao]s?|[ая]я|[ыо][йе]|ие)(?!\w))"
_UNSPACED = "暂时|眼下|暂不|暂由|本次冲刺|当面|今のところ|さしあたり|今スプリント|このスプリント"
_QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|“[^”]*”|«[^»]*»|„[^“”"]*[“”"]|「[^」]*」|『[^』]*』""")


def _pattern() -> re.Pattern[str]:
    spaced, first = map(_either, (_SPACED, _FIRST))
    begins = r"(?:^|[.!?:;]\s+)\W*"
    return re.compile(rf"(?<!\w){spaced}(?!\w)|{begins}{first}(?!\w){_OF_A_THING}|{_UNSPACED}", re.IGNORECASE)


def _either(listed: str) -> str:
    words = (one.split() for one in re.split(r"[|\n]", listed) if one.strip())
    return "(?:" + "|".join(r"\s+".join(map(re.escape, one)) for one in words) + ")"


_PASSING = _pattern()


def passing(text: str) -> bool:
    """Whether a statement says that it holds only for now."""
    said = _QUOTED.sub(" ", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return _PASSING.search(said) is not None
