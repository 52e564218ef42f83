"""Facts made fit to store: only entities the note really names, and a summary only where it shortens."""

from dataclasses import replace

from memman.model.records import Fact
from memman.pipeline.plan import Plan, Tools

# A summary nearly as long as its fact saves nobody anything.
SHORTENS = 0.85


async def enrich(tools: Tools, plan: Plan) -> Plan:  # noqa: ARG001 - every stage has one shape
    """Drop what the note does not bear out."""
    known = {name.casefold() for name in plan.note.hints.entities}
    said = f"{plan.note.text}\n{plan.note.reply}".casefold()
    return replace(plan, facts=tuple(_sound(fact, known, said) for fact in plan.facts))


def _sound(fact: Fact, known: set[str], said: str) -> Fact:
    entities = tuple(name for name in fact.entities if name.casefold() in known or name.casefold() in said)
    summary = fact.summary if len(fact.summary) < SHORTENS * len(fact.text) else ""
    return replace(fact, entities=entities, summary=summary)
