"""Note → facts, with category, importance, entities, keywords and summary in the same call."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from memman.model.errors import Refused
from memman.model.records import Fact, Note, Request
from memman.pipeline import steering
from memman.pipeline.facts import FIELDS, MAX_TEXT, fact, grounded, listing
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.prompts import digest, prompt, quoted
from memman.pipeline.replies import clean, listed
from memman.pipeline.trust import weighed
from memman.pipeline.unmasked import plain
from memman.pipeline.words import stems

MAX_FACTS = 64

SCHEMA = listing(FIELDS, MAX_FACTS)
_SCHEMA_TEXT = json.dumps(SCHEMA)


def version(tools: Tools) -> str:
    """Derive the stage's version from prompts, schemas, model, what is captured and what is held back."""
    from memman.pipeline import capture

    asked = (prompt("extract"), _SCHEMA_TEXT, capture.version(tools), steering.version())
    return digest(*asked, tools.llm.provider, tools.llm.model("fast"), tools.builtin.model("fast"))


async def extract(tools: Tools, plan: Plan) -> Plan:
    """Ask the model for the note's facts; what it refuses, the built-in model extracts."""
    note = plan.note
    facts = await (_noted if note.channel == "note" else _captured)(tools, note)
    return replace(plan, facts=weighed(note, facts))


async def _captured(tools: Tools, note: Note) -> tuple[Fact, ...]:
    # Its tables take long to compile, and many drains meet no turn.
    from memman.pipeline.capture import capture

    return await capture(tools, note)


async def _noted(tools: Tools, note: Note) -> tuple[Fact, ...]:
    """Return the facts of a note that somebody asked to be remembered, at least one."""
    request = _request(note)
    try:
        facts = _facts((await tools.llm.complete(request)).data, note)
    except Refused:
        facts = ()
    if not facts:
        # Somebody asked for this to be remembered: a model that finds nothing in it does not decide that.
        facts = _facts((await tools.builtin.complete(request)).data, note) or _pieces(note)
    return facts


def _pieces(note: Note) -> tuple[Fact, ...]:
    """Keep a note that has no sentence in it, such as a key or one emoji, as it is, in pieces where it is long."""
    text = clean(note.text, len(note.text))
    return tuple(fact({"text": text[at : at + MAX_TEXT]}, note.hints) for at in range(0, len(text), MAX_TEXT))


def _request(note: Note) -> Request:
    hints, text = note.hints, plain(note.text)
    return Request(
        task="extract",
        role="fast",
        system=prompt("extract"),
        user=f"Whose words: {note.provenance.source}\n{quoted('note', text)}",
        schema=SCHEMA,
        payload={
            "text": text,
            "category": hints.category,
            "importance": hints.importance,
            "entities": list(hints.entities),
        },
        max_tokens=1024 + len(text) // 2,
    )


def _facts(data: Mapping[str, Any], note: Note) -> tuple[Fact, ...]:
    said = stems(plain(note.text))
    facts = (fact(item, note.hints) for item in listed(data, "facts", MAX_FACTS))
    kept = {one.text.casefold(): one for one in facts if one.text and grounded(one.text, said)}
    return tuple(kept.values())
