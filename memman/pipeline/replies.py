"""What models are asked for, and the checks on what they answer: untrusted until it has passed here."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memman.config.scope import PERSONAL, REPOSITORY
from memman.model.errors import BadReply
from memman.model.records import DEFAULT_IMPORTANCE, Fact, Hints
from memman.model.vocabulary import CATEGORIES
from memman.pipeline.comparison import faithful, original


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


MAX_TEXT = 4_000
# Names, keywords: how many of a fact, and characters of each; characters of a summary.
ENTITIES, KEYWORDS, MAX_SUMMARY = (12, 80), (10, 40), 160
# Questions that a fact answers: how many of a fact, and characters of each.
QUESTIONS = (3, 120)
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
    "questions": _strings(*QUESTIONS),
    "summary": {"type": "string", "maxLength": MAX_SUMMARY},
    "scope": {"type": "string", "enum": [PERSONAL, REPOSITORY, "unsure"]},
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
    category, scope = item.get("category"), item.get("scope")
    return Fact(
        text=lines(item.get("text"), MAX_TEXT),
        category=hints.category or (category if category in CATEGORIES else "fact"),
        importance=hints.importance or int(number(item.get("importance"), 1, 5, DEFAULT_IMPORTANCE)),
        entities=names((*hints.entities, *_texts(item.get("entities"))), *ENTITIES),
        keywords=(*names(item.get("keywords"), *KEYWORDS), *_questions(item.get("questions"))),
        summary=clean(item.get("summary"), MAX_SUMMARY),
        scope=scope if scope in (PERSONAL, REPOSITORY) else "",
    )


def distinct(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Return the facts with a text, each once."""
    return tuple({one.text.casefold(): one for one in facts if one.text}.values())


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


def _questions(value: Any) -> tuple[str, ...]:
    """Return questions as keywords; the mark at their end is what tells them from the others."""
    most, length = QUESTIONS
    return tuple(dict.fromkeys(one.rstrip(" .?\uff1f\u061f\u3002") + "?" for one in names(value, most, length - 1)))


def _texts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
