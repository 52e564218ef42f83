"""What a person has been asked about: they rejected it, or it waits for them. It is not proposed in other words."""

import asyncio
from collections.abc import Iterable, Sequence

from memman.embed.static import sign_code
from memman.model.terms import respelled
from memman.pipeline.candidates import lexical
from memman.pipeline.comparison import numbers, same
from memman.pipeline.evidence import SAME
from memman.pipeline.judged import EVERYTHING, fingerprint, nearest
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.scope import around
from memman.store import MemoryRow
from memman.store.sqlite.schema import HIDDEN_CELL

# What as probably changes a memory is proposed, however like it. With SAME, of 56 paraphrases by five writers 15 are
# known again, and none of 711 other statements that speak of the same thing.
CHANGED = 0.25
# Memories that a fact is compared with, the likest first.
_NEAREST = 8


async def rejected(tools: Tools, texts: Sequence[str]) -> set[str]:
    """Return those of `texts` that a person rejected, in these words or, as the judge finds, in others."""
    found = tools.reader.rejected(texts)
    rest = [text for text in texts if text not in found]
    if tools.judge and rest:
        await asyncio.to_thread(tools.judge.about, rest)
    refused = [(text, list(_refused(tools, text))) for text in rest]
    said = await asyncio.to_thread(lambda: {text for text, rows in refused if _says(tools, text, rows)})
    return found | said


def waiting(tools: Tools, plan: Plan) -> set[int]:
    """Return the facts to be held back that a memory says already: one that is recalled, or one that waits."""
    found = set()
    for n, fact in enumerate(plan.facts):
        if not fact.held:
            continue
        here = around(tools, plan.note, fact)
        stored = [memory for memory, _ in lexical(tools.reader, fact.text, here)[:_NEAREST]]
        stored += nearest(tools.reader, tools.judge, fact.text, _NEAREST, here) if tools.judge else []
        current = tools.reader.rows(tools.reader.filtered(stored, EVERYTHING)).values()
        hidden = (row for row in _hidden(tools, fact.text) if row.status == "review")
        if _says(tools, fact.text, (*hidden, *current)):
            found.add(n)
    return found


def _refused(tools: Tools, text: str) -> Iterable[MemoryRow]:
    rows = [row for row in _hidden(tools, text) if row.status == "forgotten"]
    known = tools.reader.rejected(row.text for row in rows)
    return (row for row in rows if row.text in known)


def _says(tools: Tools, text: str, rows: Iterable[MemoryRow]) -> bool:
    """Whether one of `rows` says what a text does: in its words, or as the judge reads both, either way round."""
    others = [row.text for row in rows]
    if any(same(other.casefold(), text.casefold()) for other in others):
        return True
    if not (tools.judge and others):
        return False
    there = tools.judge.relations([(other, text) for other in others])
    back = tools.judge.relations([(text, other) for other in others])
    return any(
        min(one.same, two.same) >= SAME
        and max(one.ends, two.ends) < CHANGED
        and numbers(text) <= numbers(other)
        and not respelled(text, other)
        for one, two, other in zip(there, back, others, strict=True)
    )


def _hidden(tools: Tools, text: str) -> list[MemoryRow]:
    """Return the memories likest to a text of those that no search finds: forgotten, or held back."""
    number = tools.reader.embedder_id(fingerprint(tools.judge)) if tools.judge else None
    if tools.judge is None or number is None:
        return []
    code = sign_code(tools.judge.about([text])[0].tolist())
    found = [memory for memory, _ in tools.reader.nearest(number, code, EVERYTHING, _NEAREST, (HIDDEN_CELL,))]
    rows = tools.reader.rows(found)
    return [rows[memory] for memory in found]
