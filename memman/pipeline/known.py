"""What is known already: stored, shown to the session, rejected by a person, or waiting for one."""

import asyncio
from collections.abc import Iterable, Sequence

from memman.belief import USER
from memman.config.scope import REPOSITORY
from memman.config.scope import same as one_place
from memman.embed.static import sign_code
from memman.llm.builtin.split import extent, sentences
from memman.model.names import mentions
from memman.model.records import Fact, Note, Verdict
from memman.model.uid import memory_uid
from memman.pipeline.candidates import lexical
from memman.pipeline.comparison import SAME, TOGETHER, same, says
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.sameness import SAME as SURELY
from memman.pipeline.sameness import rephrases, says_again, says_so
from memman.pipeline.scope import around, asked, named, place, scope
from memman.pipeline.trust import prompted, source
from memman.pipeline.vectors import EVERYTHING, fingerprint, near_about
from memman.store import MemoryRow
from memman.store.filters import Filters
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.schema import HIDDEN_CELL

# Stored memories that an agent's fact is compared with, best match first, and those shown last.
_NEAREST = 8
_SHOWN = 64
# Letters; a shorter sentence ("Done.") tells nothing.
_SAYING = 12
_WISHES = Filters(category="preference", source=USER)


async def news(tools: Tools, note: Note, facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Leave out what an agent says that is stored or was shown to the session. What a user says is news."""
    if not any(_agents(note, one) for one in facts):
        return tuple(facts)
    reader = tools.reader
    here = around(tools, note)
    shown = [row.text for row in reader.rows(reader.located(note.shown[-_SHOWN:])).values()]
    return tuple(one for one in facts if not (_agents(note, one) and _told(tools, one.text, shown, here)))


def known(tools: Tools, plan: Plan) -> Iterable[Verdict]:
    """Yield NONE for each fact that a memory, stored or in flight, states, whoever judged."""
    offered = sorted({c.uid: c for found in plan.candidates for c in found}.values(), key=lambda c: -c.score)
    retired = {verdict.memory for verdict in plan.verdicts if verdict.action != "MAYBE"}
    for n, fact in enumerate(plan.facts):
        if fact.held:
            continue
        # What is to stand in a memory's place is no echo of it.
        if _agents(plan.note, fact) and not plan.note.hints.replaces:
            saying = (c.uid for c in plan.candidates[n] if says([c.text], fact.text, SAME))
            uid = _stored(tools.reader, fact.text, around(tools, plan.note, fact)) or next(saying, "")
        else:
            holding = [c for c in offered if c.uid not in retired]
            uid = next((c.uid for c in holding if same(fact.text, c.text)), "")
            if not uid and plan.note.channel == "noted":
                uid = next((c.uid for c in holding if c.source == USER and _noted(tools, c.text, fact)), "")
            uid = uid or _wished_elsewhere(tools, plan, fact)
        if uid:
            yield Verdict(n, "NONE", uid, "already known")


def _wished_elsewhere(tools: Tools, plan: Plan, fact: Fact) -> str:
    """Return the uid of a wish of the user's for another repository that `fact` is again, '' for none."""
    note, reader = plan.note, tools.reader
    if not _may_hold_everywhere(note, fact):
        return ""
    found = [memory for memory, _ in lexical(reader, fact.text, _WISHES)[:_NEAREST]]
    found += near_about(reader, tools.judge, fact.text, _NEAREST, _WISHES)
    others = reader.filtered(found, _WISHES) - reader.filtered(found, around(tools, note))
    shared = {memory for memory, one in reader.authorship(others).items() if one.visibility == "shared"}
    wishes = [(row.uid, row.text) for row in reader.rows(sorted(others - shared)).values()]
    kin = tools.kin(note.provenance.repository)
    wishes += [
        (memory_uid(before.uid, n), one.text)
        for before, facts in plan.earlier
        for n, one in enumerate(facts)
        if _may_hold_everywhere(before, one)
        and (holds := scope(before, one).repository)
        and not any(one_place(holds, other) for other in kin)
    ]
    return next((uid for uid, text in wishes if _one_wish(tools, fact.text, text)), "")


def _may_hold_everywhere(note: Note, fact: Fact) -> bool:
    """Whether a fact is a wish that the user said in a repository, and did not limit to that."""
    mine = fact.category == _WISHES.category and source(note, fact) == USER and not fact.held
    here = place(note, fact) == note.provenance.repository != ""
    return mine and here and not asked(note)


def _one_wish(tools: Tools, text: str, other: str) -> bool:
    """Whether two wishes say the same, neither says "here", and the judge finds one not to be about a repository."""
    if REPOSITORY in (named(text), named(other)):
        return False
    if not (says_so(tools.judge, text, other) and says_so(tools.judge, other, text)):
        return False
    return any(tools.judge.personal([text, other]))


def _agents(note: Note, fact: Fact) -> bool:
    """Whether an agent said it, or the web: what a prompt holds is no echo, even if it may have been pasted."""
    return bool(fact.source) and not prompted(note, fact)


def _told(tools: Tools, text: str, shown: Sequence[str], here: Filters) -> bool:
    """Whether what an agent says was shown or is stored, as a whole or sentence by sentence."""
    if says(shown, text, TOGETHER) or _rephrased(tools, text, shown, here):
        return True
    parts = [one for one in sentences(text) if extent(one) >= _SAYING] or [text]
    return all(any(says([one], part, SAME) for one in shown) or _stored(tools.reader, part, here) for part in parts)


def _stored(reader: SqliteReader, text: str, here: Filters) -> str:
    """Return the uid of the memory that says what a text says, one that is out of date too; '' for none."""
    found = [memory for memory, _ in lexical(reader, text, here)[:_NEAREST]]
    rows = reader.rows(found)
    return next((rows[memory].uid for memory in found if says([rows[memory].text], text, SAME)), "")


def _rephrased(tools: Tools, text: str, shown: Sequence[str], here: Filters) -> bool:
    """Whether what an agent says is known in other words."""
    judge, reader = tools.judge, tools.reader
    mine, *others = judge.about([text, *shown])
    likest = sorted(zip(shown, others, strict=True), key=lambda one: -float(one[1] @ mine))[:_NEAREST]
    near = near_about(reader, judge, text, _NEAREST, here)
    texts = [*(one for one, _ in likest), *(row.text for row in reader.rows(near).values())]
    judged = judge.relations([(one, text) for one in texts])
    return any(rephrases(relation, text, one) for relation, one in zip(judged, texts, strict=True))


def _noted(tools: Tools, text: str, line: Fact) -> bool:
    """Whether a line says again, in an agent's words, what a memory says, and names nothing that it does not."""
    relation = tools.judge.relation(text, line.text)
    if relation.same < SURELY or not rephrases(relation, line.text, text):
        return False
    return all(mentions(text, entity) for entity in line.entities)


# Memories that a fact is compared with, the likest first.
_LIKEST = 8


async def rejected(tools: Tools, texts: Sequence[str]) -> set[str]:
    """Return those of `texts` that a person rejected, in these words or, as the judge finds, in others."""
    found = tools.reader.rejected(texts)
    rest = [text for text in texts if text not in found]
    if rest:
        await asyncio.to_thread(tools.judge.about, rest)
    refused = [(text, _refused(tools, text)) for text in rest]
    said = await asyncio.to_thread(lambda: {text for text, rows in refused if says_again(tools.judge, text, rows)})
    return found | said


def waiting(tools: Tools, plan: Plan) -> set[int]:
    """Return the facts to be held back that a memory says already: one that is recalled, or one that waits."""
    found = set()
    for n, fact in enumerate(plan.facts):
        if not fact.held:
            continue
        here = around(tools, plan.note, fact)
        stored = [memory for memory, _ in lexical(tools.reader, fact.text, here)[:_LIKEST]]
        stored += near_about(tools.reader, tools.judge, fact.text, _LIKEST, here)
        current = tools.reader.rows(tools.reader.filtered(stored, EVERYTHING)).values()
        hidden = (row for row in _hidden(tools, fact.text) if row.status == "review")
        if says_again(tools.judge, fact.text, [row.text for row in (*hidden, *current)]):
            found.add(n)
    return found


def _refused(tools: Tools, text: str) -> list[str]:
    rows = [row for row in _hidden(tools, text) if row.status == "forgotten"]
    known = tools.reader.rejected(row.text for row in rows)
    return [row.text for row in rows if row.text in known]


def _hidden(tools: Tools, text: str) -> list[MemoryRow]:
    """Return the memories likest to a text of those that no search finds: forgotten, or held back."""
    number = tools.reader.embedder_id(fingerprint(tools.judge))
    if number is None:
        return []
    code = sign_code(tools.judge.about([text])[0].tolist())
    found = [memory for memory, _ in tools.reader.nearest(number, code, EVERYTHING, _LIKEST, (HIDDEN_CELL,))]
    rows = tools.reader.rows(found)
    return [rows[memory] for memory in found]
