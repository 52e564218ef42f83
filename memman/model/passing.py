"""Whether a statement says that it holds only for now, without naming a date: for now, this sprint, vorerst, 当面.

Adverbs of time that mean nothing else, in eight languages; what stands in quotes or code is only named. Not for the hot
path: imports re.
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
_UNSPACED = "暂时|眼下|暂不|暂由|本次冲刺|当面|今のところ|さしあたり|今スプリント|このスプリント"
_QUOTED = re.compile(r"""`[^`]*`|"[^"]*"|“[^”]*”|«[^»]*»|„[^“”"]*[“”"]|「[^」]*」|『[^』]*』""")


def _pattern() -> re.Pattern[str]:
    spaced = "|".join(r"\s+".join(map(re.escape, one.split())) for one in re.split(r"[|\n]", _SPACED) if one.strip())
    return re.compile(rf"(?<!\w)(?:{spaced})(?!\w)|{_UNSPACED}", re.IGNORECASE)


_PASSING = _pattern()


def passing(text: str) -> bool:
    """Whether a statement says that it holds only for now."""
    said = _QUOTED.sub(" ", text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'"))
    return _PASSING.search(said) is not None
