"""Remove secrets before any other stage sees the note."""

from dataclasses import replace

from memman.pipeline.plan import Plan, Tools
from memman.secrets import screened


async def redact(tools: Tools, plan: Plan) -> Plan:  # noqa: ARG001 - every stage has one shape
    """Replace secrets in the note's text, reply and hints by typed markers."""
    note = plan.note
    hints = replace(note.hints, entities=tuple(map(screened, note.hints.entities)))
    return replace(plan, note=replace(note, text=screened(note.text), reply=screened(note.reply), hints=hints))
