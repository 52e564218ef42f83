"""Extract facts from a note, with category, importance, entities, keywords, questions, summary and scope."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memman.belief import INSIST, allowed, trusted
from memman.llm.builtin.markdown import blocks
from memman.llm.builtin.split import asks, sentences
from memman.model.errors import Refused
from memman.model.records import Fact, Note, Request
from memman.model.vocabulary import REMEMBERED
from memman.pipeline.capture import capture, watch
from memman.pipeline.capture import version as captured
from memman.pipeline.injection import plain
from memman.pipeline.known import rejected
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.prompts import digest, prompt, quoted
from memman.pipeline.replies import FIELDS, MAX_TEXT, borne_out, clean, distinct, fact, listed, listing, summed_up
from memman.pipeline.scope import scoped
from memman.pipeline.trust import noted, restrained, source

MAX_FACTS = 64

SCHEMA = listing(FIELDS, MAX_FACTS)
_SCHEMA_TEXT = json.dumps(SCHEMA)
# Why a fact waits where the settings say so.
_ASK = "what turns leave and agents note is asked about first"


def version(tools: Tools) -> str:
    """Derive the stage's version from prompts, schemas, model, what is captured."""
    asked = (prompt("extract"), _SCHEMA_TEXT, captured(tools))
    return digest(*asked, tools.llm.provider, tools.llm.model("fast"), tools.builtin.model("fast"))


async def extract(tools: Tools, plan: Plan) -> Plan:
    """Ask the model for the note's facts; what it refuses, the built-in model extracts."""
    note = plan.note
    facts, unnoted = await _read(tools, note)
    facts = tuple(fact for fact in facts if not tools.gone(note, fact.text))
    facts = await _admitted(tools, note, await restrained(tools, note, facts))
    return replace(plan, facts=await scoped(tools, note, facts), unnoted=unnoted)


async def _admitted(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Leave out what a person rejected, unless the user says it.

    What turns leave, and agents note, they may want to be asked about: then the user's own words in a turn count as
    well as asked about, and rejected.
    """
    ask = tools.capture == "ask" and (
        note.channel not in REMEMBERED or (note.provenance.agent and not note.hints.replaces)
    )
    gone = await rejected(tools, [one.text for one in facts if ask or not allowed(source(note, one), INSIST)])
    kept = (one for one in facts if one.text not in gone)
    return tuple(replace(one, held=one.held or _ASK) if ask else one for one in kept)


async def _read(tools: Tools, note: Note) -> tuple[tuple[Fact, ...], str]:
    """Return the facts of a note, and what of a turn its agent might have noted."""
    if note.channel in REMEMBERED:
        return await _remembered(tools, note), ""
    if note.channel == "watched":
        return await watch(tools, note)
    return await (noted if note.channel == "noted" else capture)(tools, note), ""


async def _remembered(tools: Tools, note: Note) -> tuple[Fact, ...]:
    """Return the facts of a note that somebody asked to be remembered: at least one, unless it only asks something."""
    request = _request(note)
    try:
        facts = _facts((await tools.llm.complete(request)).data, note)
        if not facts and note.text.strip() and all(map(asks, sentences(note.text))):
            return ()
        if tools.llm.provider != tools.builtin.provider:
            facts = _borne_out(facts, note)
    except Refused:
        facts = ()
    if not facts:
        # Somebody asked for this to be remembered: a model that finds nothing in it does not decide that.
        facts = _facts((await tools.builtin.complete(request)).data, note)
    return facts if facts and all(len(one.text) < MAX_TEXT for one in facts) else _pieces(note)


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
        max_tokens=1024 + len(text) * 3 // 4,
        note=note,
    )


def _facts(data: Mapping[str, Any], note: Note) -> tuple[Fact, ...]:
    return distinct(fact(item, note.hints) for item in listed(data, "facts", MAX_FACTS))


def _borne_out(facts: Iterable[Fact], note: Note) -> tuple[Fact, ...]:
    """Return facts as the note has them; an attack that a page makes of a summary is left in, to give it away."""
    text = plain(note.text)
    read = [(block, ": ".join((*block.labels, block.text))) for block in blocks(text)]
    items = {_folded(block.text): told for block, told in read if block.kind == "item" and block.leads}
    if items:
        # Each item is read with what introduces it, which may turn it round.
        facts = (replace(one, text=items.get(_folded(one.text), one.text)) for one in facts)
        text = "\n\n".join(told for _, told in read)
    kept = distinct(one for found in facts if (one := borne_out(found, text)))
    # The note's own sentence, kept in place of a part of it, says what stands beside it too.
    kept = tuple(one for one in kept if not any(_within(one.text, other.text) for other in kept))
    return tuple(summed_up(one, text) for one in kept) if trusted(note.provenance.source) else kept


def _folded(text: str) -> str:
    return " ".join(text.split()).rstrip(".").casefold()


def _within(text: str, other: str) -> bool:
    return text != other and text.rstrip(".!\u3002") in other
