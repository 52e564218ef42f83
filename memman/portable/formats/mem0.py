"""What mem0's get_all answers, saved as JSON: a list of memories, or an object with one in `results`."""

import json
import os
from typing import Any

from memman.model.errors import UsageError
from memman.model.moments import ms
from memman.portable import files
from memman.portable.incoming import Format, Found, Item

_LACKS = (
    "who memories are about or came from, categories, metadata, expiration dates, locks, scores and relations",
    "other pages: save and import each",
)


def _fits(path: str) -> bool:
    if not os.path.isfile(path) or not path.lower().endswith(".json"):
        return False
    try:
        return bool(_rows(_said(path), path))
    except UsageError:
        return False


def _said(path: str) -> Any:
    try:
        return json.loads(files.text(path))
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON ({error})") from None


def _rows(said: Any, path: str) -> list[Any]:
    """Return the rows. Raises UsageError where none of them is a memory."""
    rows = said.get("results", said.get("memories")) if isinstance(said, dict) else said
    if not isinstance(rows, list) or (rows and not any(map(_text, rows))):
        raise UsageError(f"{path} has no list of memories as mem0 gives it: results, each with a memory")
    return rows


def _text(row: Any) -> str:
    said = (row.get("memory") or row.get("data")) if isinstance(row, dict) else ""
    return said if isinstance(said, str) else ""


def _read(path: str) -> Found:
    items = []
    for row in filter(_text, _rows(_said(path), path)):
        moments = (str(row.get(name) or "") for name in ("updated_at", "created_at"))
        items.append(Item(_text(row), key=str(row.get("id") or ""), at=next(filter(None, map(ms, moments)), 0)))
    return Found(tuple(items), _LACKS)


FORMAT = Format("mem0", "memories of mem0 (JSON)", _fits, _read)
