"""Checks on what a model answers: untrusted until it has passed here."""

from collections.abc import Mapping, Sequence
from typing import Any

from memman.model.errors import BadReply


def listed(data: Mapping[str, Any], key: str, limit: int) -> list[Mapping[str, Any]]:
    """Return the objects listed under `key`, `limit` at most. Raises BadReply when it is no list of objects."""
    found = data.get(key)
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise BadReply(f"the model's reply has no list of objects named {key!r}")
    return found[:limit]


def shaped(data: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Raise BadReply where a list that was asked for is none."""
    for name, part in schema.get("properties", {}).items():
        if part.get("type") == "array":
            listed(data, name, 0)


def clean(value: Any, limit: int) -> str:
    """Return a string on one line of printable text, `limit` characters at most; '' for anything else."""
    if not isinstance(value, str):
        return ""
    return " ".join("".join(c if c.isprintable() or c.isspace() else " " for c in value).split())[:limit].strip()


def lines(value: Any, limit: int) -> str:
    """Return a string of clean lines, `limit` characters at most; '' for anything else."""
    if not isinstance(value, str):
        return ""
    return "\n".join(filter(None, (clean(line, limit) for line in value.split("\n"))))[:limit].strip()


def names(value: Any, limit: int, length: int) -> tuple[str, ...]:
    """Return distinct short strings of a list, case-folded duplicates out."""
    texts = (
        [clean(item, length) for item in value] if isinstance(value, Sequence) and not isinstance(value, str) else []
    )
    kept = {text.casefold(): text for text in reversed(texts) if text}
    return tuple(reversed(kept.values()))[:limit]


def number(value: Any, low: float, high: float, default: float) -> float:
    """Return a number clamped into [low, high], `default` for anything that is not one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value != value:  # noqa: PLR0124 - NaN
        return default
    return min(max(value, low), high)
