"""The reconcile task: what each new fact does to each memory offered with it.

Precision first: superseding a memory that still holds hides a truth. Between surely so and surely not, both stay and
the older one is marked (docs/adr/0048).
"""

import re
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
# What says so surely the same as a memory that ends, either way round, ends too.
AGAIN = 0.8
# What a statement says up to a colon or semicolon, of four words at least.
# How a correction may begin: a word or two before a comma or a colon.
_OPENING = re.compile(r"^\w+(?: \w+)?[,:]\s+(?=\w)")
_WORDS = re.compile(r"\w+")
# With an opening, and as sure of it as this, the judge takes another figure for a correction.
SAID_SO = 0.3
_CLAUSE = re.compile(r"(?:[^\s:;]*[^\s:;.!?]\s+){3,}[^\s:;]+(?=[:;]\s)")
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
    new, olds = _group(fact, memories, near)
    ranked = sorted(zip(near, *_ended(new, olds, judge), strict=True), key=lambda one: -one[2][0])
    likely = [
        (n, relation, share, band)
        for n, relation, (share, band) in ranked
        if band == SURE or (band == MAYBE and share >= LIKELY)
    ]
    # Of what is unsure only the likeliest is marked, and nothing where something else is sure.
    for n, relation, share, band in [one for one in likely if one[3] == SURE] or likely[:1]:
        old = memories[n]
        ends = "UPDATE" if relation.supersedes >= relation.retracts else "DELETE"
        action = "MAYBE" if band < SURE or _more(old["text"], new, judge) else ends
        reason = f"says otherwise, {share:.0%} sure"
        yield share, {"fact": fact["n"], "action": action, "memory": old["n"], "reason": reason}
    nearest = fact["near"][0]
    share = next((share for n, _, (share, _) in ranked if n == nearest), 0.0)
    if not likely and 0 < share < LIKELY and (chance := _changed(share, fact["cosines"][nearest])) >= BESIDE:
        yield chance, {"fact": fact["n"], "action": NEWER, "memory": memories[nearest]["n"]}


def _ended(new: str, olds: tuple[str, ...], judge: Judge) -> tuple[list[Relation], list[tuple[float, int]]]:
    """Return what a statement does to each older one, and how surely it ends that.

    Where that is unsure, what it says up to a colon or semicolon, which the rest only explains, is read by itself, and
    what stands behind a short opening ("No, …"). What says the same as the one that ends most surely ends too.
    """
    judged = [*judge.compared([(new, olds)], BEARS)[0]]
    found = judge.endings(new, olds, judged)
    bare = _OPENING.sub("", new)
    for part in (clause[0] if (clause := _CLAUSE.match(new)) else new, bare):
        if part != new and SURE not in {band for _, band in found} and any(share >= LIKELY for share, _ in found):
            (plain,) = judge.compared([(part, olds)], BEARS)
            for n, again in enumerate(judge.endings(part, olds, plain)):
                if found[n][0] >= LIKELY and again[1] == SURE:
                    judged[n], found[n] = plain[n], again
    for n, old in enumerate(olds):
        if found[n][1] < SURE and judged[n].ends >= LEAST and _other_figure(old, bare):
            sure = bare != new and judged[n].ends >= SAID_SO
            found[n] = max(found[n][0], AGAIN if sure else LIKELY), SURE if sure else MAYBE
    ended = max(range(len(olds)), key=lambda n: (found[n][1], found[n][0]))
    rest = [n for n, (_, band) in enumerate(found) if band < SURE and found[ended][1] == SURE]
    there = judge.relations([(olds[ended], olds[n]) for n in rest])
    back = judge.relations([(olds[n], olds[ended]) for n in rest])
    for n, one, other in zip(rest, there, back, strict=True):
        if min(one.same, other.same) >= AGAIN:
            judged[n], found[n] = judged[ended], found[ended]
    return judged, found


def _other_figure(old: str, new: str) -> bool:
    """Whether two statements differ in the figure at their end alone, which the judge hardly sees: 8080 and 8081."""
    mine, theirs = (_WORDS.findall(text.casefold()) for text in (new, old))
    return mine != theirs and mine[:-1] == theirs[:-1] != [] and mine[-1].isdigit() and theirs[-1].isdigit()


def _changed(share: float, cosine: float) -> float:
    """Return how probably a statement changes the memory nearest to it, which it ends as probably as `share`."""
    return 1 / (1 + exp(-_ADDED - _COSINE * cosine - _ODDS * log(share / (1 - share))))


def _comparable(fact: Mapping[str, Any], memories: Sequence[Mapping[str, Any]]) -> list[int]:
    """Return the numbers of the memories that a fact is compared with: code, and what is long, is no statement."""
    new = fact["text"]
    return [n for n in fact["near"] if _short(new) and _short(memories[n]["text"])]


def _short(text: str) -> bool:
    return "\n" not in text and extent(text) <= LONGEST


def _more(old: str, new: str, judge: Judge) -> bool:
    """Whether a sentence of a memory, or a part up to a semicolon, is worth keeping and `new` does not bear on it."""
    told = [part for sentence in sentences(old) for part in sentence.split("; ")]
    if len(told) == 1:
        return False
    ended = judge.relations([(one, new) for one in told])
    worth = judge.lines(told)
    return any(one.ends < LEAST and kept >= WORTH for one, (kept, _) in zip(ended, worth, strict=True))
