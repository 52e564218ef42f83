"""The reconcile task: what each new fact does to each memory offered with it.

Precision first: superseding a memory that still holds hides a truth, so a
verdict needs the same subject, and either words of change or a value of the
same kind that differs.
"""

from collections.abc import Mapping
from typing import Any

from memman.llm.builtin.causes import causes
from memman.llm.builtin.changes import Change, arrival_of, change_of, denied, settled, topic_of
from memman.llm.builtin.claims import changed_value, same_attribute
from memman.llm.builtin.grammar import BE, NEGATIONS, RESTRICTING
from memman.llm.builtin.patterns import wordset
from memman.llm.builtin.statement import Sentence, Statement, Word, read, root, sentence
from memman.llm.builtin.subject import subject_of
from memman.llm.builtin.usage import features, holds, rival
from memman.llm.builtin.values import meaning
from memman.model.terms import respelled

_RESTRICTING = frozenset(map(root, RESTRICTING))
_TELLING = 2  # content words; fewer say nothing that could be said again
_NARROWING = wordset("in on at for when during under with")


def _narrower(long: Sentence, short: Sentence) -> bool:
    """Whether "the limit is 5 in staging" only adds to "the limit is 5" where it holds."""
    added = meaning(long.words)[len(short.content)]
    return added.form in _NARROWING and any(word.form in BE for word in short.words)


def _retold(fact: Sentence, memory: Sentence) -> str:
    """NONE where the memory says all of the fact, UPDATE where the fact says all of the memory and more."""
    less, more = (fact, memory) if len(fact.content) <= len(memory.content) else (memory, fact)
    if len(less.content) == len(more.content) and fact.reasoned:
        less, more = memory, fact
    size = len(less.content)
    if fact.mood != memory.mood or size < _TELLING or more.content[:size] != less.content or less.reasoned:
        return ""
    beyond = more.content[size:]
    if _RESTRICTING.intersection(beyond):
        return ""
    if less is fact:
        return "NONE"
    return "" if beyond and _narrower(fact, memory) else "UPDATE"


def _superseded(fact: Sentence, change: Change, memory: Sentence) -> bool:
    """Whether `memory` states the old end of the fact's `change` as what is in force."""
    earlier = change_of(memory)
    # "X no longer uses Redis" does not say that Redis is in use, whoever else stops using it.
    stated = not memory.negated and not (earlier and not earlier.new)
    if stated and (holds(memory, change.old, change.rest) or (change.gone and features(memory, change.old))):
        return True
    if earlier is None or not earlier.new:
        return False
    if [word.stem for word in change.old] != [word.stem for word in earlier.new]:
        return False
    return subject_of(fact, change.old, change.new) == subject_of(memory, earlier.old, earlier.new)


def _explicit(fact: Sentence, memory: Sentence) -> tuple[str, str]:
    """Judge a fact that says in words that something changed."""
    if fact.doubtful or memory.doubtful:
        return "", ""
    change = change_of(fact)
    if change and _superseded(fact, change, memory):
        if change.new:
            return "UPDATE", f"{_written(change.old)} was replaced by {_written(change.new)}"
        return "DELETE", f"{_written(change.old)} is out of use"
    before = denied(fact.text)
    if before and not memory.negated and sentence(before).content == memory.content:
        return "DELETE", "no longer so"
    return _arrived(fact, memory)


def _arrived(fact: Sentence, memory: Sentence) -> tuple[str, str]:
    """Judge a fact that only names the new end of a change: "we switched to B", "we went back to A"."""
    arrival = () if fact.adding else arrival_of(fact)
    if not arrival:
        return "", ""
    topic = topic_of(fact, arrival)
    gone = rival(memory, arrival, topic)
    if gone:
        return "UPDATE", f"{_written(gone)} was replaced by {_written(arrival)}"
    earlier = change_of(memory)
    if earlier is None or [word.stem for word in earlier.old] != [word.stem for word in arrival]:
        return "", ""
    change = change_of(fact)
    mine = subject_of(fact, arrival, change.old if change else earlier.new)
    # Nobody in particular went from C to A: that need not be what went from A to B.
    same = mine == subject_of(memory, earlier.old, earlier.new) and bool(mine or not change)
    return ("UPDATE", "changed back") if same else ("", "")


def _written(words: tuple[Word, ...]) -> str:
    return " ".join(word.raw for word in words)


def _implicit(fact: Sentence, memory: Sentence) -> tuple[str, str]:
    """Judge a fact that gives another value to what the memory speaks of."""
    if fact.doubtful or memory.doubtful or fact.adding or memory.adding or fact.past:
        return "", ""
    text = settled(fact.text)
    told, claim = text != fact.text, sentence(text)
    if claim.negated == memory.negated and (same_attribute(claim, memory) or changed_value(claim, memory, told=told)):
        return "UPDATE", "another value for the same thing"
    if claim.negated != memory.negated:
        positive, negative = (tuple(term for term in side.content if term not in NEGATIONS) for side in (claim, memory))
        if len(positive) > 1 and positive == negative:
            return "UPDATE", "the opposite is so now"
    return "", ""


def verdict(fact: Statement, memory: Statement) -> tuple[str, str]:
    """Judge one fact against one memory: (action, reason), '' for ADD."""
    if fact.key == memory.key and not respelled(fact.text, memory.text):
        return "NONE", "already known"
    if not memory.sentences or not fact.sentences or not memory.single:
        return "", ""
    known = memory.sentences[0]
    if fact.single and len(memory.sentences) == 1:
        action = _retold(fact.sentences[0], known)
        if action == "NONE" and len(fact.sentences) == 1 and not respelled(fact.text, memory.text):
            return "NONE", "already known"
        if action == "UPDATE" and not respelled(fact.text, memory.text):
            return "UPDATE", "says the same and more"
    for rule in (_explicit, _implicit):
        for said in fact.sentences:
            action, reason = rule(said, known)
            if action:
                return action, reason
    return "", ""


def _verdicts(fact: Mapping[str, Any], memories: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give all verdicts of one fact but ADD. Where it supersedes anything, its duplicates are superseded with it."""
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
