"""Compare each fact with its candidates: what it replaces, what is known already, what caused what."""

import asyncio
import json
import time
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from memman.llm.builtin.reconcile import BEARS, groups
from memman.model.errors import Refused
from memman.model.records import Action, Candidate, Cause, Fact, Reply, Request, Verdict
from memman.model.uid import memory_uid
from memman.model.vocabulary import NEWER
from memman.pipeline.candidates import closest, find, in_flight, near
from memman.pipeline.comparison import faithful, same
from memman.pipeline.known import known
from memman.pipeline.plan import Plan, Tools
from memman.pipeline.prompts import digest, itemized, prompt
from memman.pipeline.replies import ASKED_TEXT, MAX_TEXT, clean, lines, listed, number

# What one note may do to the store, whatever the model says.
MAX_UPDATES = 3
MAX_DELETES = 1
MAX_MAYBES = 3
MAX_CAUSES = 16
MAX_OFFERED = 24
# A sparing model is asked where the judge finds it this likely that a fact ends or repeats a memory: of 450 changes by
# nine writers 93 % are, of 900 pairs of theirs with nothing in common 3 % (docs/adr/0038).
BEARING = 0.02
MAX_REASON = 200
_TOLD = "a model read the conversation"
# What is more surely than this about something else than a memory ends it only maybe: of 36 ends that a strong model
# named three are.
STRANGE = 0.8
_LEAST_CONFIDENCE = 0.5
_LONGEST_END = 6  # f63, m23, and in a batch m1623
_CAUSE_KINDS = ("causes", "enables", "prevents")

# What is asked, and about which memories.
Question = tuple[Request, list[Candidate]]

_VERDICT = {
    "fact": {"type": "integer"},
    "action": {"type": "string", "enum": ["UPDATE", "DELETE", "NONE"]},
    "memory": {"type": "integer"},
    "rest": {"type": "string", "maxLength": ASKED_TEXT},
    "reason": {"type": "string", "maxLength": MAX_REASON},
}
_CAUSE = {
    "cause": {"type": "string", "maxLength": _LONGEST_END},
    "effect": {"type": "string", "maxLength": _LONGEST_END},
    "kind": {"type": "string", "enum": list(_CAUSE_KINDS)},
    "confidence": {"type": "number"},
}


def _objects(fields: Mapping[str, Any], most: int) -> dict[str, Any]:
    item = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "array", "maxItems": most, "items": item}


SCHEMA: dict[str, Any] = {
    "type": "object",
    # Each memory that is offered is judged once.
    "properties": {"verdicts": _objects(_VERDICT, MAX_OFFERED), "causes": _objects(_CAUSE, MAX_CAUSES)},
    "required": ["verdicts", "causes"],
    "additionalProperties": False,
}
_SCHEMA_TEXT = json.dumps(SCHEMA)


def version(tools: Tools) -> str:
    """Derive the stage's version from prompt, schema, model and the built-in vectors it journals."""
    made = (tools.llm.provider, tools.llm.model("slow"), str(tools.local.fingerprint), tools.builtin.model("slow"))
    return digest(prompt("reconcile"), _SCHEMA_TEXT, *made)


async def reconcile(tools: Tools, plan: Plan) -> Plan:
    """Find what each fact may bear on, and ask what it replaces, what is known already and what caused what."""
    if not plan.facts:
        return plan
    local = (await tools.local.embed([fact.text for fact in plan.facts])).vectors
    # Remembered, and cheaper together.
    await asyncio.to_thread(tools.judge.about, [fact.text for fact in plan.facts])
    stored = [
        () if fact.held else find(tools, plan.note, fact, vector)
        for fact, vector in zip(plan.facts, local, strict=True)
    ]
    ahead = await in_flight(tools, plan, local)
    candidates = tuple(
        () if fact.held else first + then for fact, first, then in zip(plan.facts, ahead, stored, strict=True)
    )
    plan = replace(plan, local=local, candidates=candidates)
    plan = replace(plan, verdicts=_replaced(tools, plan)) if plan.note.hints.replaces else await _judged(tools, plan)
    plan = replace(plan, verdicts=(*plan.verdicts, *known(tools, plan)))
    return await _with_rests(tools, plan)


def _told(tools: Tools, plan: Plan) -> tuple[Verdict, ...]:
    """Return what a model that read the conversation found to end.

    Where the judge finds that the two have nothing in common, or the memory does not say what is to be left of it, it
    only maybe ends.
    """
    rows = {row.uid: row.text for row in tools.reader.rows(tools.reader.located(_ended(plan))).values()}
    found = []
    for n, fact in enumerate(plan.facts):
        for uid, rest in fact.ends or ():
            if (text := rows.get(uid)) is None or same(fact.text, text):
                continue
            pairs = [(text, fact.text), (fact.text, text)]
            bears = min(one.apart for one in tools.judge.relations(pairs)) <= STRANGE
            sound = bears and _leaves(rest, text)
            found.append(Verdict(n, "UPDATE" if sound else "MAYBE", uid, _TOLD, rest if sound else ""))
    return tuple(found)


def _ended(plan: Plan) -> list[str]:
    return [uid for fact in plan.facts for uid, _ in fact.ends or ()]


def _question(plan: Plan) -> Question | None:
    """Return the question what the facts do to the candidates near enough to any, and these; None without any."""
    offered = _offered(plan.facts, plan.candidates)
    return (_request(plan, offered), offered) if offered else None


async def _judged(tools: Tools, plan: Plan) -> Plan:
    """Ask the model, or the judge, what the facts do to the memories that are near enough to any.

    What comes of a conversation was compared with them by the model that read it.
    """
    if any(fact.ends is not None for fact in plan.facts):
        return replace(plan, verdicts=await asyncio.to_thread(_told, tools, plan))
    question = _question(plan)
    if question is None:
        return plan
    request, offered = question
    asked = not tools.sparing or await _bearing(tools, request)
    try:
        reply = await (tools.llm if asked else tools.builtin).complete(request)
    except Refused:
        reply = await tools.builtin.complete(request)
    return _settled(plan, offered, reply)


async def by_builtin(tools: Tools, plan: Plan) -> tuple[Verdict, ...]:
    """Return what the built-in model finds that the facts of a plan do to their candidates; costs nothing."""
    question = _question(plan)
    if question is None:
        return ()
    request, offered = question
    return _settled(plan, offered, await tools.builtin.complete(request)).verdicts


async def _bearing(tools: Tools, request: Request) -> bool:
    """Whether the judge finds that a fact may bear on a memory it is near to."""
    judged = await asyncio.to_thread(tools.judge.compared, groups(request.payload), BEARS)
    return any(max(one.ends, one.same) >= BEARING for relations in judged for one in relations)


async def _with_rests(tools: Tools, plan: Plan) -> Plan:
    """Add what is left of memories that are ended in part: compared with nothing, and stored if they are ended."""
    left = tuple(Fact(verdict.rest, left_of=verdict.memory) for verdict in plan.verdicts if verdict.rest)
    if not left or plan.local is None:
        return plan
    local = (await tools.local.embed([one.text for one in left])).vectors
    return replace(
        plan,
        facts=(*plan.facts, *left),
        local=np.concatenate((plan.local, local)),
        candidates=(*plan.candidates, *(() for _ in left)),
    )


def _open(facts: Sequence[Fact]) -> dict[int, Fact]:
    """Return the facts that may be judged, by their number."""
    return {n: fact for n, fact in enumerate(facts) if not fact.held}


def _replaced(tools: Tools, plan: Plan) -> tuple[Verdict, ...]:
    """Supersede what the note replaces: a stored memory, all of a stored note, or of one in flight before it."""
    target = plan.note.hints.replaces
    new = next(iter(_open(plan.facts)), None)
    if new is None:
        return ()
    stored = [uid for _, uid in tools.reader.found(target)]
    ahead = [memory_uid(note.uid, n) for note, facts in plan.earlier if note.uid == target for n in range(len(facts))]
    return tuple(Verdict(new, "UPDATE", uid, "replaced on request") for uid in dict.fromkeys((*stored, *ahead)))


def _offered(facts: Sequence[Fact], candidates: Sequence[Sequence[Candidate]]) -> list[Candidate]:
    """Return the candidates near enough to any fact, each once."""
    kept: dict[str, Candidate] = {}
    for fact, found in zip(facts, candidates, strict=True):
        for candidate in near(fact, found):
            kept[candidate.uid] = max(kept.get(candidate.uid, candidate), candidate, key=lambda one: one.score)
    return sorted(kept.values(), key=lambda candidate: -candidate.score)[:MAX_OFFERED]


def _request(plan: Plan, offered: Sequence[Candidate]) -> Request:
    numbers = {candidate.uid: n for n, candidate in enumerate(offered)}
    facts = [
        {
            "n": n,
            "text": f.text,
            "near": closest(plan.candidates[n], numbers),
            "cosines": {numbers[one.uid]: one.similarity for one in plan.candidates[n] if one.uid in numbers},
        }
        for n, f in _open(plan.facts).items()
    ]
    memories = [{"n": n, "text": c.text} for n, c in enumerate(offered)]
    said = [f"f{f['n']}: {f['text']}" for f in facts]
    stored = [f"m{n} ({_day(c.valid_from)}): {c.text}" for n, c in enumerate(offered)]
    return Request(
        task="reconcile",
        role="slow",
        system=prompt("reconcile"),
        user="\n".join((f"Day: {_day(plan.note.queued_at)}", itemized("facts", said), itemized("memories", stored))),
        schema=SCHEMA,
        payload={"facts": facts, "memories": memories},
        note=plan.note,
    )


def _day(moment: int) -> str:
    """Write the day of a moment (Unix milliseconds), UTC."""
    return time.strftime("%Y-%m-%d", time.gmtime(moment / 1000))


def _settled(plan: Plan, offered: Sequence[Candidate], reply: Reply) -> Plan:
    facts, data = _open(plan.facts), reply.data
    return replace(plan, verdicts=tuple(_verdicts(facts, offered, data)), causes=tuple(_causes(facts, offered, data)))


def _verdicts(facts: Mapping[int, Fact], offered: Sequence[Candidate], data: Mapping[str, Any]) -> list[Verdict]:
    """Keep what is allowed: offered ids, each memory judged once, the surest first; too many sure ones are marked."""
    left: dict[Action, int] = {"UPDATE": MAX_UPDATES, "DELETE": MAX_DELETES, "MAYBE": MAX_MAYBES}
    kept: list[Verdict] = []
    judged: set[str] = set()
    for item in sorted(listed(data, "verdicts", 4 * MAX_OFFERED), key=lambda item: item.get("action") == "MAYBE"):
        fact, memory, action = item.get("fact"), item.get("memory"), item.get("action")
        if not (_within(fact, facts) and _within(memory, range(len(offered)))):
            continue
        if not (isinstance(action, str) and action in left):
            continue
        uid = offered[memory].uid
        if same(facts[fact].text, offered[memory].text):
            continue
        rest = lines(item.get("rest"), MAX_TEXT)
        # What a model would leave of a memory that the memory does not say, or all of it, makes the verdict doubtful.
        sound = _leaves(rest, offered[memory].text)
        action = action if left[action] and sound else "MAYBE"
        if left[action] == 0 or uid in judged:
            continue
        left[action] -= 1
        judged.add(uid)
        rest = "" if action == "MAYBE" else rest
        kept.append(Verdict(fact, action, uid, clean(item.get("reason"), MAX_REASON), rest))
    return kept


def _leaves(rest: str, text: str) -> bool:
    """Whether what a model would leave of a memory's text is in it, and not all of it."""
    return not rest or (faithful(rest, text) and not same(rest, text))


def _within(value: Any, numbers: Container[int]) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and value in numbers


def _causes(facts: Mapping[int, Fact], offered: Sequence[Candidate], data: Mapping[str, Any]) -> list[Cause]:
    kept = []
    for item in listed(data, "causes", MAX_CAUSES):
        cause, effect = _end(item.get("cause"), facts, offered), _end(item.get("effect"), facts, offered)
        confidence, kind = number(item.get("confidence"), 0.0, 1.0, 0.0), item.get("kind")
        kind = kind if kind in (*_CAUSE_KINDS, NEWER) else "causes"
        sure = kind == NEWER or confidence >= _LEAST_CONFIDENCE
        if cause is not None and effect is not None and cause != effect and sure:
            kept.append(Cause(cause, effect, kind, confidence))
    return kept


def _end(value: Any, facts: Mapping[int, Fact], offered: Sequence[Candidate]) -> int | str | None:
    if not isinstance(value, str) or len(value) > _LONGEST_END or not value[1:].isdecimal() or not value.isascii():
        return None
    place = int(value[1:])
    if value[0] == "f" and place in facts:
        return place
    if value[0] == "m" and place < len(offered):
        return offered[place].uid
    return None
