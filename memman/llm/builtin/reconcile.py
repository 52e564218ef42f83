"""The reconcile task: what each new fact does to each memory offered with it.

Precision first: superseding a memory that still holds hides a truth, so a
verdict needs the same subject, and either words of change or a value of the
same kind that differs.
"""

from collections.abc import Mapping
from typing import Any

from memman.llm.builtin.causes import causes
from memman.llm.builtin.changes import Change, arrival_of, change_of, denied, settled, topic_of
from memman.llm.builtin.claims import GENERIC, about, changed_value, holds, rival, same_attribute
from memman.llm.builtin.statement import Sentence, Statement, read, sentence

_NEGATIONS = frozenset({"not", "never", "no"})
# In what one text has beyond the other, these make it say something else.
_RESTRICTING = frozenset(
    """not never no only rarely sometimes often unless except if when until almost hardly might maybe may could should would
    want wants wanted plan plans planned try tries tried consider considered without before after longer stopped failed fails
    some most partly says said thinks claims""".split(),
)


def _retold(fact: Sentence, memory: Sentence) -> str:
    """NONE where the memory says all of the fact, UPDATE where the fact says all of the memory and more."""
    ours, theirs = fact.content, memory.content
    if fact.mood != memory.mood or min(len(ours), len(theirs)) < 2:  # noqa: PLR2004 - one word says nothing
        return ""
    short, long = (ours, theirs) if len(ours) <= len(theirs) else (theirs, ours)
    whole = fact.text.count(" ") == len(fact.words) - 1 or fact.text == memory.text
    if long[: len(short)] != short or set(long[len(short) :]) & _RESTRICTING:
        return ""
    if len(long) == len(short):
        return "NONE" if whole or fact.words == memory.words else "UPDATE"
    return "UPDATE" if short is theirs else "NONE"


def _superseded(change: Change, memory: Sentence) -> bool:
    """Whether `memory` states the old end of `change` as what is in force."""
    if holds(memory, change.old, change.rest) or (change.gone and about(memory, change.old)):
        return True
    earlier = change_of(memory)
    if earlier is None or not earlier.new:
        return False
    topic = change.rest - GENERIC
    old = [word.stem for word in change.old]
    return old == [word.stem for word in earlier.new] and topic <= earlier.rest


def _explicit(fact: Sentence, memory: Sentence) -> tuple[str, str]:
    """The verdict of a fact that says in words that something changed."""
    if fact.doubtful or memory.doubtful:
        return "", ""
    change = change_of(fact)
    if change and _superseded(change, memory):
        old, new = (" ".join(word.raw for word in span) for span in (change.old, change.new))
        return ("UPDATE", f"{old} was replaced by {new}") if new else ("DELETE", f"{old} is out of use")
    before = denied(fact.text)
    if before and not memory.negated and sentence(before).content == memory.content:
        return "DELETE", "no longer so"
    new = arrival_of(fact)
    if new and not fact.adding:
        topic = topic_of(fact, new)
        old = rival(memory, new, topic)
        if old:
            return "UPDATE", f"{old[0].raw} was replaced by {new[-1].raw}"
        earlier = change_of(memory)
        if earlier and [w.stem for w in earlier.old] == [w.stem for w in new]:
            return "UPDATE", "changed back"
    return "", ""


def _implicit(fact: Sentence, memory: Sentence) -> tuple[str, str]:
    """The verdict of a fact that gives another value to what the memory speaks of."""
    if fact.doubtful or memory.doubtful or fact.adding or memory.adding or fact.past:
        return "", ""
    text = settled(fact.text)
    told, claim = text != fact.text, sentence(text)
    if claim.negated == memory.negated and (
        same_attribute(claim, memory) or changed_value(claim, memory, told=told)
    ):
        return "UPDATE", "another value for the same thing"
    if claim.negated != memory.negated:
        positive, negative = (
            tuple(term for term in side.content if term not in _NEGATIONS) for side in (claim, memory)
        )
        if len(positive) > 1 and positive == negative:
            return "UPDATE", "the opposite is so now"
    return "", ""


def verdict(fact: Statement, memory: Statement) -> tuple[str, str]:
    """Judge one fact against one memory: (action, reason), '' for ADD."""
    if fact.key == memory.key:
        return "NONE", "already known"
    if not memory.sentences or not fact.sentences or not memory.single:
        return "", ""
    known = memory.sentences[0]
    if fact.single and len(memory.sentences) == 1:
        action = _retold(fact.sentences[0], known)
        if action == "NONE" and len(fact.sentences) == 1:
            return "NONE", "already known"
        if action == "UPDATE":
            return "UPDATE", "says the same and more"
    for rule in (_explicit, _implicit):
        for said in fact.sentences:
            action, reason = rule(said, known)
            if action:
                return action, reason
    return "", ""


def _verdicts(fact: Mapping[str, Any], memories: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """All verdicts of one fact but ADD. Where it supersedes anything, its duplicates are superseded with it."""
    said = read(fact["text"])
    judged = [(memory["n"], *verdict(said, read(memory["text"]))) for memory in memories]
    found = [
        {"fact": fact["n"], "action": action, "memory": n, "reason": reason} for n, action, reason in judged if action
    ]
    if all(one["action"] == "NONE" for one in found):
        return found[:1]
    return [one | {"action": "UPDATE"} if one["action"] == "NONE" else one for one in found]


def reconcile(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Answer {"verdicts": [...], "causes": [...]}."""
    facts, memories = payload["facts"], payload["memories"]
    verdicts = [one for fact in facts for one in _verdicts(fact, memories)]
    return {"verdicts": verdicts, "causes": causes(facts, memories)}
