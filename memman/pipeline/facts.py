"""What extraction asks a model for, and how its answer becomes facts."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memman.model.records import DEFAULT_IMPORTANCE, Fact, Hints
from memman.model.vocabulary import CATEGORIES
from memman.pipeline.fidelity import faithful, original
from memman.pipeline.replies import clean, lines, names, number

MAX_TEXT = 4_000
# After so many drains in which the model answered nonsense, the built-in model takes over for this note.
PATIENCE = 5

_STRINGS = {"type": "array", "items": {"type": "string"}}
FIELDS: dict[str, Any] = {
    "text": {"type": "string"},
    "category": {"type": "string", "enum": list(CATEGORIES)},
    "importance": {"type": "integer"},
    "entities": _STRINGS,
    "keywords": _STRINGS,
    "summary": {"type": "string"},
}


def listing(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema of {"facts": [...]}, each an object of `fields`."""
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": item}},
        "required": ["facts"],
        "additionalProperties": False,
    }


def fact(item: Mapping[str, Any], hints: Hints) -> Fact:
    """Read one fact; what the caller of `remember` hinted wins over the model."""
    category = item.get("category")
    return Fact(
        text=lines(item.get("text"), MAX_TEXT),
        category=hints.category or (category if category in CATEGORIES else "fact"),
        importance=hints.importance or int(number(item.get("importance"), 1, 5, DEFAULT_IMPORTANCE)),
        entities=names((*hints.entities, *_texts(item.get("entities"))), 12, 80),
        keywords=names(item.get("keywords"), 10, 40),
        summary=clean(item.get("summary"), 160),
    )


def borne_out(one: Fact, source: str) -> Fact | None:
    """Return a fact as `source` has it: in its own words where it is faithful, else in those of `source`.

    None where `source` says nothing of the kind.
    """
    if faithful(one.text, source):
        return one
    text = original(one.text, source)
    return replace(one, text=text, summary="", keywords=()) if 0 < len(text) <= MAX_TEXT else None


def summed_up(one: Fact, source: str) -> Fact:
    """Return a fact without its summary, where `source` does not bear that out."""
    return one if faithful(one.summary, source) else replace(one, summary="")


def _texts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
