"""Secrets out, before anything else sees the note."""

from dataclasses import replace

from memman.model.secrets import redact as redacted
from memman.pipeline.plan import Plan, Tools


async def redact(tools: Tools, plan: Plan) -> Plan:  # noqa: ARG001 - every stage has one shape
    """Replace secrets in the note's text, reply and hints by typed markers."""
    note = plan.note
    hints = replace(note.hints, entities=tuple(map(redacted, note.hints.entities)))
    return replace(plan, note=replace(note, text=redacted(note.text), reply=redacted(note.reply), hints=hints))
