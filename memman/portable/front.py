"""Front matter of Markdown files: YAML as far as such files use it, written so that JSON reads each value."""

import json
from collections.abc import Mapping
from typing import Any

_FENCE = "---"


def written(about: Mapping[str, Any], body: str) -> str:
    """Write a file with front matter."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in about.items()]
    return "\n".join([_FENCE, *lines, _FENCE, "", body.rstrip(), ""])


def parted(text: str) -> tuple[dict[str, Any], str]:
    """Return the front matter of a file, none where it has none, and what follows it."""
    head, *rest = text.split("\n")
    if head.rstrip() != _FENCE or _FENCE not in (ends := [line.rstrip() for line in rest]):
        return {}, text
    end = ends.index(_FENCE)
    return _mapping(rest[:end]), "\n".join(rest[end + 1 :])


def _mapping(lines: list[str]) -> dict[str, Any]:
    """Read names with a value, a list of items below them, or names of their own, as deep as one level."""
    found: dict[str, Any] = {}
    name = ""
    for line in lines:
        inside = line[:1] in {" ", "\t", "-"}
        text = line.strip()
        if inside and name and text.startswith("- "):
            found[name] = [*(found[name] if isinstance(found[name], list) else []), _value(text[2:])]
        elif inside and name and ":" in text:
            below, _, said = text.partition(":")
            found[name] = {**(found[name] if isinstance(found[name], dict) else {}), below: _value(said)}
        elif ":" in text and not text.startswith("#"):
            name, _, said = text.partition(":")
            found[name] = _value(said)
    return found


def _value(said: str) -> Any:
    said = said.strip()
    try:
        return json.loads(said)
    except ValueError:
        return said.strip("'\"")
