"""The summary of a long statement."""

import re

_LONG, _CLAUSE = 200, 120  # characters: when a summary is worth having, and how long it may be
_BREAK = re.compile(r"[.;:!?](?=\s)|,(?=\s)|\s[—\u2013-]\s|\n|[。\uff01\uff1f\uff1b\uff0c]")


def summary(text: str) -> str:
    """Give the first clause of a long text, or '' when the text is short enough to be its own summary."""
    if len(text) <= _LONG:
        return ""
    ends = [match.start() for match in _BREAK.finditer(text, 0, _CLAUSE)]
    end = next((at for at in ends if at >= _CLAUSE // 4), 0) or text.rfind(" ", 0, _CLAUSE)
    return text[: end if end > 0 else _CLAUSE].strip(" ,;:—\u2013-\n")
