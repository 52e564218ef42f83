"""The extract task: a note's text → facts."""

from collections.abc import Mapping
from typing import Any

from memman.llm.builtin.classify import category, importance
from memman.llm.builtin.entities import entities
from memman.llm.builtin.split import split
from memman.llm.builtin.summary import summary


def extract(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer {"facts": [...]}; what the caller hinted wins over the rules."""
    hinted = tuple(payload.get("entities") or ())
    facts = [
        {
            "text": text,
            "category": payload.get("category") or category(text),
            "importance": payload.get("importance") or importance(text),
            "entities": entities(text, hinted),
            "keywords": [],
            "summary": summary(text),
        }
        for text in split(payload["text"])
    ]
    return {"facts": facts}
