"""Keep only the names that are in the note, and the keywords that add to the fact's text."""

from dataclasses import replace

from memman.model.records import Fact
from memman.model.terms import stems
from memman.pipeline.freshness import dated
from memman.pipeline.plan import Plan, Tools

# A summary nearly as long as its fact saves nobody anything.
SHORTENS = 0.85


async def enrich(tools: Tools, plan: Plan) -> Plan:  # noqa: ARG001 - every stage has one shape
    """Drop what the note does not bear out, and say until when each fact holds."""
    known = {name.casefold() for name in plan.note.hints.entities}
    said = f"{plan.note.text}\n{plan.note.reply}".casefold()
    facts = tuple(_sound(fact, known, said) for fact in plan.facts)
    return replace(plan, facts=dated(plan.note, facts))


def _sound(fact: Fact, known: set[str], said: str) -> Fact:
    entities = tuple(name for name in fact.entities if name.casefold() in known or name.casefold() in said)
    held = stems(fact.text)
    # What the text says is indexed already: a keyword is to lead here from other words.
    keywords = tuple(word for word in fact.keywords if not stems(word) <= held)
    summary = fact.summary if len(fact.summary) < SHORTENS * len(fact.text) else ""
    return replace(fact, entities=entities, keywords=keywords, summary=summary)
