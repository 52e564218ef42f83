"""The reconcile task: what each new fact does to each memory offered with it.

Precision first: superseding a memory that still holds hides a truth. Between surely so and surely not, both stay and
the older one is marked (docs/adr/0048).
"""

from collections.abc import Iterator, Mapping, Sequence
from math import exp, log
from typing import Any

from memman.judge.heads import LEAST, MAYBE, SURE
from memman.judge.judge import Judge, Relation
from memman.llm.builtin.split import extent, sentences
from memman.model.text import said
from memman.model.vocabulary import NEWER

# A sentence of a memory, or a part of one, worth this is not retired with the rest of it.
WORTH = 0.8
# Letters of a statement that is compared at all: the judge reads no more of one, and has learned from shorter ones.
LONGEST = 300
# What is less likely than not to hold no longer is not marked.
LIKELY = 0.5
# How probably a statement changes the memory nearest to it, in other words: what the log odds that it ends that memory
# count, and the cosine, and what is added. From BESIDE on recall shows both (docs/adr/0056).
_ODDS, _COSINE, _ADDED = 0.6, 10.0, -2.75
BESIDE = 0.4
# Of the memories that a statement is compared with, so many at most are looked at to the end.
BEARS = 2
# A statement, and the memories it is compared with.
Group = tuple[str, tuple[str, ...]]
# How surely, and what.
Judged = tuple[float, dict[str, Any]]


def reconcile(payload: Mapping[str, Any], judge: Judge) -> dict[str, Any]:
    """Answer {"verdicts": [...], "causes": [...]}: of what caused what, which takes a model, only what is newer."""
    facts, memories = _stated(payload["facts"]), _stated(payload["memories"])
    found = [one for fact in facts for one in _verdicts(fact, memories, judge)]
    # The surest first: a note may do only so much.
    found.sort(key=lambda one: -one[0])
    causes = [
        {"cause": f"f{one['fact']}", "effect": f"m{one['memory']}", "kind": NEWER, "confidence": chance}
        for chance, one in found
        if one["action"] == NEWER
    ]
    return {"verdicts": [one for _, one in found if one["action"] != NEWER], "causes": causes}


def groups(payload: Mapping[str, Any]) -> list[Group]:
    """Return each fact with the memories that it may bear on."""
    facts, memories = _stated(payload["facts"]), _stated(payload["memories"])
    found = [_group(fact, memories, _comparable(fact, memories)) for fact in facts]
    return [group for group in found if group[1]]


def _stated(items: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return facts or memories without what they answered."""
    return [{**one, "text": said(one["text"])} for one in items]


def _group(fact: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], near: Sequence[int]) -> Group:
    return fact["text"], tuple(memories[n]["text"] for n in near)


def _verdicts(fact: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], judge: Judge) -> Iterator[Judged]:
    near = _comparable(fact, memories)
    if not near:
        return
    new, olds = asked = _group(fact, memories, near)
    (judged,) = judge.compared([asked], BEARS)
    ranked = sorted(zip(near, judged, judge.endings(new, olds, judged), strict=True), key=lambda one: -one[2][0])
    likely = [
        (n, relation, share, band)
        for n, relation, (share, band) in ranked
        if band == SURE or (band == MAYBE and share >= LIKELY)
    ]
    # Of what is unsure only the likeliest is marked, and nothing where something else is sure.
    for n, relation, share, band in [one for one in likely if one[3] == SURE] or likely[:1]:
        old = memories[n]
        action = "MAYBE" if band < SURE or _more(old["text"], new, judge) else _ends(relation)
        reason = f"says otherwise, {share:.0%} sure"
        yield share, {"fact": fact["n"], "action": action, "memory": old["n"], "reason": reason}
    nearest = fact["near"][0]
    share = next((share for n, _, (share, _) in ranked if n == nearest), 0.0)
    if not likely and 0 < share < LIKELY and (chance := _changed(share, fact["cosines"][nearest])) >= BESIDE:
        yield chance, {"fact": fact["n"], "action": NEWER, "memory": memories[nearest]["n"]}


def _changed(share: float, cosine: float) -> float:
    """Return how probably a statement changes the memory nearest to it, which it ends as probably as `share`."""
    return 1 / (1 + exp(-_ADDED - _COSINE * cosine - _ODDS * log(share / (1 - share))))


def _comparable(fact: Mapping[str, Any], memories: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the numbers of the memories that a fact is compared with: code, and what is long, is no statement."""
    new = fact["text"]
    return [n for n in fact["near"] if _short(new) and _short(memories[n]["text"])]


def _short(text: str) -> bool:
    return "\n" not in text and extent(text) <= LONGEST


def _ends(relation: Relation) -> str:
    return "UPDATE" if relation.supersedes >= relation.retracts else "DELETE"


def _more(old: str, new: str, judge: Judge) -> bool:
    """Whether a sentence of a memory, or a part up to a semicolon, is worth keeping and `new` does not bear on it."""
    told = [part for sentence in sentences(old) for part in sentence.split("; ")]
    if len(told) == 1:
        return False
    ended = judge.relations([(one, new) for one in told])
    worth = judge.lines(told)
    return any(one.ends < LEAST and kept >= WORTH for one, (kept, _) in zip(ended, worth, strict=True))
