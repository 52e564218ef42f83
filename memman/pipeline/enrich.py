"""What facts gain and lose without a model: secrets, names that nobody said, an end, and the files that they name."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from memman.config.history import blob, tracked
from memman.config.repository import repository
from memman.config.scope import THERE
from memman.model.ending import ends
from memman.model.records import Fact, Note
from memman.model.terms import stems
from memman.pipeline.plan import Plan, Tools
from memman.secrets import screened

# A summary nearly as long as its fact saves nobody anything.
SHORTENS = 0.85


async def enrich(tools: Tools, plan: Plan) -> Plan:  # noqa: ARG001 - every stage has one shape
    """Drop names and keywords that the note does not say, and say until when each fact holds."""
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


# Names looked for in a note, and files kept of a fact.
_LOOKED_FOR, MOST = 60, 8
_NAME = re.compile(r"[\w@+.][\w@+./-]*\w")


def dated(note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Give each fact its end, where it has one; what is the rest of an older memory has none."""
    return tuple(
        fact if fact.left_of else replace(fact, ends_at=note.hints.ends_at or ends(fact.text, note.queued_at))
        for fact in facts
    )


def files(note: Note, facts: Sequence[Fact]) -> list[dict[str, str]]:
    """Return, for each fact, the tracked files that it names, each with the id of what it holds now."""
    cwd = note.provenance.cwd
    names = [[] if fact.scope.startswith(THERE) else _names(fact.text) for fact in facts]
    place = repository(cwd) if cwd and any(names) else None
    if place is None:
        return [{} for _ in facts]
    looked_for = list(dict.fromkeys(name for some in names for name in some))[:_LOOKED_FOR]
    known = tracked(place, looked_for, os.path.relpath(cwd, place.root))
    return [blobs(place.root, [known[name] for name in some if name in known][:MOST]) for some in names]


def blobs(root: str, paths: Iterable[str]) -> dict[str, str]:
    """Return the id of what each file below `root` holds, of those that can be read."""
    held = {path: blob(f"{root}/{path}") for path in paths}
    return {path: found for path, found in held.items() if found}


def _names(text: str) -> list[str]:
    """Return what may name a file, what has a dot or a slash first; other names of files begin with a capital."""
    found = (os.path.normpath(name) for name in _NAME.findall(text))
    names = [name for name in dict.fromkeys(found) if not name.startswith(("..", "/"))]
    telling = [name for name in names if "." in name or "/" in name]
    return telling + [name for name in names if name[0].isupper() and name not in telling]


async def redact(tools: Tools, plan: Plan) -> Plan:  # noqa: ARG001 - every stage has one shape
    """Replace secrets in the note's text, reply and hints by typed markers."""
    note = plan.note
    hints = replace(note.hints, entities=tuple(map(screened, note.hints.entities)))
    return replace(plan, note=replace(note, text=screened(note.text), reply=screened(note.reply), hints=hints))
