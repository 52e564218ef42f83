"""What mem0's get_all answers, saved as JSON: a list of memories, or an object with one in `results`."""

import json
import os
from collections.abc import Iterator
from typing import Any

from memman.model.errors import UsageError
from memman.model.moments import ms
from memman.portable import files
from memman.portable.incoming import Format, Found, Item

# What memories may have beside their text: the fields, and what they are.
_LEFT = (
    (("user_id", "agent_id", "run_id", "app_id", "actor_id", "role"), "who they are about or came from ({})"),
    (("categories", "metadata"), "categories and metadata ({})"),
    (("expiration_date", "immutable"), "expiration dates and locks ({})"),
)
_LACKS = ("ids but to know a memory again, hashes and scores",)


def _fits(path: str) -> bool:
    if not os.path.isfile(path) or not path.lower().endswith(".json"):
        return False
    try:
        return bool(_memories(path))
    except UsageError:
        return False


def _memories(path: str) -> list[dict[str, Any]]:
    """Return the memories. Raises UsageError."""
    try:
        said = json.loads(files.text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON ({error})") from None
    rows = said.get("results", said.get("memories")) if isinstance(said, dict) else said
    if not isinstance(rows, list) or not all(isinstance(row, dict) and _text(row) for row in rows):
        raise UsageError(f"{path} has no list of memories as mem0 gives it: results, each with a memory")
    return rows


def _text(row: dict[str, Any]) -> str:
    said = row.get("memory") or row.get("data")
    return said if isinstance(said, str) else ""


def _read(path: str) -> Found:
    items = []
    for row in _memories(path):
        moments = (str(row.get(name) or "") for name in ("updated_at", "created_at"))
        items.append(Item(_text(row), key=str(row.get("id") or ""), at=next(filter(None, map(ms, moments)), 0)))
    return Found(tuple(items), (*_left(path), *_LACKS))


def _left(path: str) -> Iterator[str]:
    rows, said = _memories(path), json.loads(files.text(path))
    relations = said.get("relations") if isinstance(said, dict) else None
    for names, what in _LEFT:
        if count := sum(any(row.get(name) for name in names) for row in rows):
            yield what.format(count)
    if isinstance(relations, list) and relations:
        yield f"relations of its graph ({len(relations)})"


FORMAT = Format("mem0", "memories of mem0 (JSON)", _fits, _read)
