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
_LACKS = ("hashes, scores, and ids, except to recognise a memory",)


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
    said = _said(path)
    rows = _rows(said, path)
    memories = [row for row in rows if _text(row)]
    items = []
    for row in memories:
        moments = (str(row.get(name) or "") for name in ("updated_at", "created_at"))
        items.append(Item(_text(row), key=str(row.get("id") or ""), at=next(filter(None, map(ms, moments)), 0)))
    about = said if isinstance(said, dict) else {}
    return Found(tuple(items), (*_left(about, len(rows), memories), *_LACKS), partial=_partial(about, len(rows)))


def _partial(about: dict[str, Any], there: int) -> str:
    count = about.get("count")
    paged = about.get("next") or about.get("previous") or (isinstance(count, int) and count > there)
    return f"this page has {there} of {count or 'more'}: save the others and import them, too" if paged else ""


def _left(about: dict[str, Any], there: int, memories: list[dict[str, Any]]) -> Iterator[str]:
    if empty := there - len(memories):
        yield f"rows without a text ({empty})"
    for names, what in _LEFT:
        if found := sum(any(row.get(name) for name in names) for row in memories):
            yield what.format(found)
    relations = about.get("relations")
    if isinstance(relations, list) and relations:
        yield f"relations of its graph ({len(relations)})"


FORMAT = Format("mem0", "memories of mem0 (JSON)", _fits, _read)
