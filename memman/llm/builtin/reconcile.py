"""The reconcile task: what each new fact does to each memory offered with it.

Precision first: superseding a memory that still holds hides a truth. Between surely so and surely not, both stay and
the older one is marked (docs/adr/0036).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memman.judge.judge import Judge, Relation
from memman.llm.builtin.frames import named_apart
from memman.llm.builtin.split import extent, sentences

# From these probabilities on a memory is retired, or marked as maybe replaced.
SURE, UNSURE = 0.9, 0.05
# A sentence of a memory worth this is not retired with the rest of it.
WORTH = 0.8
# Letters of a statement that is compared at all: the judge reads no more of one, and has learned from shorter ones.
LONGEST = 300
# Of the memories that a statement is compared with, so many at most are looked at to the end.
BEARS = 2
# A statement, and the memories it is compared with.
Group = tuple[str, tuple[str, ...]]
# How surely, and what.
Judged = tuple[float, dict[str, Any]]


def reconcile(payload: Mapping[str, Any], judge: Judge | None) -> dict[str, Any]:
    """Answer {"verdicts": [...], "causes": []}: what caused what takes a model."""
    facts, memories = payload["facts"], payload["memories"]
    found = [one for fact in facts for one in _verdicts(fact, memories, judge)] if judge else []
    # The surest first: a note may do only so much.
    verdicts = [verdict for _, verdict in sorted(found, key=lambda one: -one[0])]
    return {"verdicts": verdicts, "causes": []}


def groups(payload: Mapping[str, Any]) -> list[Group]:
    """Return each fact with the memories that it may bear on."""
    found = [_group(fact, payload["memories"], _comparable(fact, payload["memories"])) for fact in payload["facts"]]
    return [group for group in found if group[1]]


def _group(fact: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], near: Sequence[int]) -> Group:
    return fact["text"], tuple(memories[n]["text"] for n in near)


def _verdicts(fact: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], judge: Judge) -> Iterator[Judged]:
    near = _comparable(fact, memories)
    if not near:
        return
    (judged,) = judge.compared([_group(fact, memories, near)], BEARS)
    ranked = sorted(zip(near, judged, strict=True), key=lambda one: -one[1].ends)
    likely = [(n, relation) for n, relation in ranked if relation.ends >= UNSURE]
    # Of what is unsure only the likeliest is marked, and nothing where something else is sure.
    for n, relation in [one for one in likely if one[1].ends >= SURE] or likely[:1]:
        reason = f"says otherwise, {relation.ends:.0%} sure"
        action = _action(relation, memories[n]["text"], fact["text"], judge)
        yield relation.ends, {"fact": fact["n"], "action": action, "memory": memories[n]["n"], "reason": reason}


def _comparable(fact: Mapping[str, Any], memories: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the numbers of the memories that a fact is compared with, not with what is said of another thing.

    Code, and what is long, is no statement.
    """
    said = fact["text"]
    near = [n for n in fact["near"] if _short(said) and _short(memories[n]["text"])]
    return [n for n in near if not named_apart(memories[n]["text"], said)]


def _short(text: str) -> bool:
    return "\n" not in text and extent(text) <= LONGEST


def _action(relation: Relation, old: str, new: str, judge: Judge) -> str:
    if relation.ends < SURE or _more(old, new, judge):
        return "MAYBE"
    return "UPDATE" if relation.supersedes >= relation.retracts else "DELETE"


def _more(old: str, new: str, judge: Judge) -> bool:
    """Whether a sentence of a memory says something worth keeping that `new` does not bear on."""
    told = sentences(old)
    if len(told) == 1:
        return False
    ended = judge.relations([(one, new) for one in told])
    worth = judge.lines(told)
    return any(one.ends < UNSURE and kept >= WORTH for one, (kept, _) in zip(ended, worth, strict=True))
