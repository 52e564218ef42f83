"""What extraction asks a model for, and how its answer becomes facts."""

from collections.abc import Mapping
from typing import Any

from memman.model.records import DEFAULT_IMPORTANCE, Fact, Hints
from memman.model.vocabulary import CATEGORIES
from memman.pipeline.replies import clean, lines, names, number
from memman.pipeline.words import stems

MAX_TEXT = 4_000
# A fact must share this part of its words with the text it is said to come from.
GROUNDED = 0.34
# Names, keywords: how many of a fact, and characters of each; characters of a summary.
ENTITIES, KEYWORDS, MAX_SUMMARY = (12, 80), (10, 40), 160
# Characters of a fact that a schema asks for at most: llama.cpp rejects a bound of 2,000, and ignores a larger one.
ASKED_TEXT = 1_900


def _strings(most: int, length: int) -> dict[str, Any]:
    return {"type": "array", "maxItems": most, "items": {"type": "string", "maxLength": length}}


FIELDS: dict[str, Any] = {
    "text": {"type": "string", "maxLength": ASKED_TEXT},
    "category": {"type": "string", "enum": list(CATEGORIES)},
    "importance": {"type": "integer"},
    "entities": _strings(*ENTITIES),
    "keywords": _strings(*KEYWORDS),
    "summary": {"type": "string", "maxLength": MAX_SUMMARY},
}


def listing(fields: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return the schema of {"facts": [...]}, `most` objects of `fields` at most.

    Without bounds a small model repeats itself until its tokens are used up.
    """
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "maxItems": most, "items": item}},
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
        entities=names((*hints.entities, *_texts(item.get("entities"))), *ENTITIES),
        keywords=names(item.get("keywords"), *KEYWORDS),
        summary=clean(item.get("summary"), MAX_SUMMARY),
    )


def grounded(text: str, said: frozenset[str], share: float = GROUNDED) -> bool:
    """Whether `share` of the words of `text` are among the stems `said`."""
    claimed = stems(text)
    return not claimed or len(claimed & said) / len(claimed) >= share


def _texts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
