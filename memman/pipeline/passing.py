"""What a model should not have kept of a turn: questions, the task itself, and how far the work has come."""

import re

from memman.model.records import Fact

ORDER = re.compile(
    r"""(?:(?:please|can\ you|could\ you|would\ you|now|and|then|also|next|first|ok|okay|yes|no|just
        |go\ ahead\ and|let'?s
        |i(?:\ want|'d\ like|\ would\ like)\ you\ to
        |(?:the\ )?(?:user|developer)\ (?:ask(?:ed|s)|request(?:ed|s)|told|is\ asking|want(?:s|ed))
         (?:\ (?:the\ agent|me|for))?(?:\ to)?
        )[,:]?\s+)*
    (?:fix|add|rename|make|change|update|remove|delete|write|implement|create|refactor|move|run|commit|push|merge|review
    |explain|show|check|look|find|investigate|open|close|revert|undo|translate|summari[sz]e|test|deploy|install|build
    |generate|convert|compare|fetch|search|describe|replace|continue|start|try|debug|profile|clean|help|tell|give|see|read|do)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# An order with one of these may be meant for good.
_LASTING = re.compile(
    r"""\b(?:always|never|every|each|any|all|only|from\ now\ on|in\ future|going\ forward|instead\ of|rather\ than|not
    |don'?t|without|prefer\w*|before|after|whenever|by\ default)\b""",
    re.IGNORECASE | re.VERBOSE,
)
_PROGRESS = re.compile(
    r"""(?:i(?:'ve|'ll|'m|\ have|\ will|\ am|\ just|\ also)?|let\ me(?:\ know)?|done|sure|ok(?:ay)?
    |you'?re\ (?:right|welcome)
    |here(?:'s|\ is|\ are)|(?:all\ )?(?:\d+\ )?(?:of\ the\ )?(?:tests?|checks?)\ (?:now\ )?pass(?:es|ed)?
    |all\ (?:\d+\ )?(?:tests?|checks?)|(?:the\ )?(?:agent|assistant)\ (?:has\ |have\ )?\w+ed
    |(?:fix|add|renam|chang|updat|remov|delet|implement|creat|refactor|mov|commit|push|merg|review|revert|replac|extract
     |install|convert|switch|adjust|clean)ed|rewr(?:ote|itten)|wrote|ran|made|next\ steps?|would\ you\ like)\b""",
    re.IGNORECASE | re.VERBOSE,
)


def passing(fact: Fact) -> bool:
    """Whether a fact is of the moment."""
    text = fact.text.strip().replace("\u2019", "'")
    if text.endswith("?"):
        return True
    if fact.source:
        return bool(_PROGRESS.match(text) or ORDER.match(text))
    return bool(ORDER.match(text)) and not _LASTING.search(text)
