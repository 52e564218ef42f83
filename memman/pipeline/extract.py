"""Note → facts, with category, importance, entities, keywords and summary in the same call."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memman.model.errors import BadReply, Refused
from memman.model.records import DEFAULT_IMPORTANCE, Fact, Note, Request
from memman.model.vocabulary import CATEGORIES
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.prompts import digest, prompt, quoted
from memman.pipeline.replies import clean, lines, listed, names, number
from memman.pipeline.words import stems

MAX_FACTS = 64
MAX_TEXT = 4_000
# A fact must share this part of its words with the note it is said to come from.
GROUNDED = 0.34
# After so many drains in which the model answered nonsense, the rules take over for this note.
PATIENCE = 5

_STRINGS = {"type": "array", "items": {"type": "string"}}
_FACT = {
    "text": {"type": "string"},
    "category": {"type": "string", "enum": list(CATEGORIES)},
    "importance": {"type": "integer"},
    "entities": _STRINGS,
    "keywords": _STRINGS,
    "summary": {"type": "string"},
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "facts": {
            "type": "array",
            "items": {"type": "object", "properties": _FACT, "required": list(_FACT), "additionalProperties": False},
        }
    },
    "required": ["facts"],
    "additionalProperties": False,
}
_SCHEMA_TEXT = json.dumps(SCHEMA)


def version(tools: Tools) -> str:
    """Derive the stage's version from prompt, schema and model."""
    return digest(prompt("extract"), _SCHEMA_TEXT, tools.llm.provider, tools.llm.model("fast"))


async def extract(tools: Tools, plan: Plan) -> Plan:
    """Ask the model for the note's facts; what it refuses or keeps garbling, the rules extract."""
    note = plan.note
    request = _request(note)
    try:
        facts = _facts((await tools.llm.complete(request)).data, note)
    except Refused:
        facts = ()
    except BadReply:
        if note.deferrals < PATIENCE:
            raise
        facts = ()
    if not facts:
        # Somebody asked for this to be remembered: a model that finds nothing in it does not decide that.
        facts = _facts((await tools.rules.complete(request)).data, note) or _pieces(note)
    return replace(plan, facts=facts)


def _pieces(note: Note) -> tuple[Fact, ...]:
    """Keep a note that has no sentence in it, such as a key or one emoji, as it is, in pieces where it is long."""
    text = clean(note.text, len(note.text))
    return tuple(_fact({"text": text[at : at + MAX_TEXT]}, note) for at in range(0, len(text), MAX_TEXT))


def _request(note: Note) -> Request:
    hints = note.hints
    return Request(
        task="extract",
        role="fast",
        system=prompt("extract"),
        user=quoted("note", note.text),
        schema=SCHEMA,
        payload={
            "text": note.text,
            "category": hints.category,
            "importance": hints.importance,
            "entities": list(hints.entities),
            "source": note.provenance.source,
        },
        max_tokens=1024 + len(note.text) // 2,
    )


def _facts(data: Mapping[str, Any], note: Note) -> tuple[Fact, ...]:
    said = stems(note.text)
    facts = (_fact(item, note) for item in listed(data, "facts", MAX_FACTS))
    kept = {fact.text.casefold(): fact for fact in facts if fact.text and _grounded(fact.text, said)}
    return tuple(kept.values())


def _grounded(text: str, said: frozenset[str]) -> bool:
    claimed = stems(text)
    return not claimed or len(claimed & said) / len(claimed) >= GROUNDED


def _fact(item: Mapping[str, Any], note: Note) -> Fact:
    hints = note.hints
    category = item.get("category")
    return Fact(
        text=lines(item.get("text"), MAX_TEXT),
        category=hints.category or (category if category in CATEGORIES else "fact"),
        importance=hints.importance or int(number(item.get("importance"), 1, 5, DEFAULT_IMPORTANCE)),
        entities=names((*hints.entities, *_texts(item.get("entities"))), 12, 80),
        keywords=names(item.get("keywords"), 10, 40),
        summary=clean(item.get("summary"), 160),
    )


def _texts(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
