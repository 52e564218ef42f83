"""Which secrets a text holds, without showing them; and JSON without those in it."""

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

from memman.secrets import masked, screened, suspicious

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
    left, found = screened(text), []
    known = Counter(marker[0] for marker in re.finditer(_MARKER, text))
    for marker in re.finditer(_MARKER, left):
        if known[marker[0]]:
            known[marker[0]] -= 1
            continue
        excerpt = left[max(0, marker.start() - _AROUND) : marker.end() + _AROUND]
        found.append(Leak(marker[1] or "private", " ".join(excerpt.split())))
    return found


def through(value: Any, change: Callable[[str], str] = screened) -> Any:
    """Return a value of JSON with every string in it changed, names too: what is written has no secrets."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {change(name): through(one, change) for name, one in value.items()}
    return [through(one, change) for one in value] if isinstance(value, list | tuple) else value


def cleaned(value: Any) -> Any:
    """Return a value of JSON that is to be shown, without secrets."""
    return through(value, masked)


def within(text: str, change: Callable[[str], str] = screened) -> str:
    """Do as `through` with JSON in a text; change any other text as a whole."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return change(text)
    clean = through(value, change)
    return text if clean == value else json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
