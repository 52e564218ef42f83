"""Which secrets a text holds, without showing them; and JSON without those in it."""

import re
from collections import Counter
from typing import Any, NamedTuple

from memman.secrets import masked, suspicious
from memman.secrets.matcher import redact

_MARKER = r"\[(?:redacted:([a-z0-9-]+)|private)\]"
# Characters shown on either side of a marker.
_AROUND = 24


class Leak(NamedTuple):
    """A secret in a text: the rule that finds it, and what stands around its marker."""

    rule: str
    excerpt: str


def leaks(text: str) -> list[Leak]:
    """Return the secrets in a text, none of them itself."""
    if not suspicious(text):
        return []
    left, found = redact(text), []
    known = Counter(marker[0] for marker in re.finditer(_MARKER, text))
    for marker in re.finditer(_MARKER, left):
        if known[marker[0]]:
            known[marker[0]] -= 1
            continue
        excerpt = left[max(0, marker.start() - _AROUND) : marker.end() + _AROUND]
        found.append(Leak(marker[1] or "private", " ".join(excerpt.split())))
    return found


def cleaned(value: Any) -> Any:
    """Return JSON with the secrets taken out of every string in it."""
    if isinstance(value, str):
        return masked(value)
    if isinstance(value, dict):
        return {name: cleaned(one) for name, one in value.items()}
    return [cleaned(one) for one in value] if isinstance(value, list | tuple) else value
