"""JSON objects that a file, a program or an older memman wrote: none is believed before it is looked at."""

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")


def parsed(text: "str | bytes") -> "dict[str, Any] | None":
    """Return the object that `text` is in JSON, None where it is damaged or anything else."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def record(kind: "type[T]", text: str) -> "T | None":
    """Return the dataclass that `text` is in JSON, None where a field is missing or of another type."""
    try:
        return kind(**typed(kind, parsed(text)))
    except ValueError:
        return None


def typed(kind: type, said: "Any") -> "dict[str, Any]":
    """Return the fields of a dataclass as an object says them. Raises ValueError where one is of another type."""
    from dataclasses import fields
    from typing import get_origin

    for field in fields(kind):
        wanted = get_origin(field.type) or field.type
        if not isinstance(said, dict) or type(said.get(field.name)) is not (list if wanted is tuple else wanted):
            raise ValueError(field.name)
    return {field.name: said[field.name] for field in fields(kind)}
