"""Causal links that the words of a fact give evidence of."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memman.llm.builtin.patterns import choice, cues
from memman.llm.builtin.split import sentences
from memman.model.terms import stems

_CAUSE, _EFFECT = "(?P<cause>.+)", "(?P<effect>.+)"
# After "since" these tell a time, not a reason.
_TIME = choice(
    r"""\d then last yesterday january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday version the_\w+_release v\d""",
)
_HINDERS = choice("prevents prevented fixes fixed avoids avoided solves solved stops eliminates")
# (kind, confidence, shape); the first shape that fits a sentence is taken.
_CUES = tuple(
    (kind, confidence, re.compile(shape, re.IGNORECASE))
    for kind, confidence, shape in (
        ("causes", 0.9, rf"^(?:because|due to|as a result of|thanks to) (?P<cause>[^,]+), {_EFFECT}"),
        ("causes", 0.7, rf"^since (?!{_TIME})(?P<cause>[^,]+), {_EFFECT}"),
        ("causes", 0.9, rf"^{_EFFECT}\b(?:is|are|was|were) (?:caused|triggered) by {_CAUSE}"),
        ("causes", 0.9, rf"^the (?:root )?(?:cause|reason) (?:of|for|behind) {_EFFECT} (?:is|was) (?:that )?{_CAUSE}"),
        ("causes", 0.9, rf"^{_EFFECT}(?<!not)(?<!just) because(?: of)? {_CAUSE}"),
        ("causes", 0.85, rf"^{_EFFECT}(?<!not) (?:due to|owing to|as a result of|thanks to|caused by) {_CAUSE}"),
        ("causes", 0.6, rf"^{_EFFECT} since (?!{_TIME}){_CAUSE}"),
        ("causes", 0.85, rf"^{_CAUSE} (?:led to|leads to|resulted in|results in) {_EFFECT}"),
        ("causes", 0.85, rf"^{_CAUSE}[,;.] (?:as a result|therefore|consequently|hence),? {_EFFECT}"),
        ("causes", 0.65, rf"^{_CAUSE}, so (?!that\b|far\b){_EFFECT}"),
        ("enables", 0.75, rf"^{_CAUSE} (?:so that|in order to) {_EFFECT}"),
        ("prevents", 0.75, rf"^{_CAUSE} to (?:avoid|prevent) {_EFFECT}"),
        ("prevents", 0.8, rf"^{_CAUSE} {_HINDERS} {_EFFECT}"),
        ("enables", 0.75, rf"^{_CAUSE} (?:enables|enabled|allows|allowed|makes it possible to) {_EFFECT}"),
        ("causes", 0.8, rf"^{_CAUSE} (?:causes|caused|triggers|triggered|breaks|broke) {_EFFECT}"),
    )
)
# No cue can match without one of these.
_TRIGGER = cues(
    """because since due owing thanks results? resulted caused? causes reason led leads therefore consequently
    hence so order avoid avoids avoided prevent prevents prevented fixes fixed solves solved stops eliminates
    enables enabled allows allowed makes breaks broke triggers triggered""",
)
_UNSURE = cues("if whether might maybe perhaps could would not_because does_not did_not doubt")
_BOUND = 800  # characters of a sentence looked at
_SHARED = 2  # content words a clause and a statement must have in common, at least
_CLAUSE_SHARE, _STATEMENT_SHARE = 0.6, 0.5


class _Because(NamedTuple):
    """One sentence taken apart at its causal words."""

    kind: str
    confidence: float
    cause: frozenset[str]
    effect: frozenset[str]


def _taken_apart(statement: str) -> Iterator[_Because]:
    """Take the causal sentences of a statement apart."""
    for sentence in sentences(statement):
        text = sentence[:_BOUND].rstrip(" .!")
        if not _TRIGGER.search(text) or _UNSURE.search(text) or sentence.endswith("?"):
            continue
        for kind, confidence, shape in _CUES:
            found = shape.search(text)
            if found:
                yield _Because(kind, confidence, stems(found["cause"]), stems(found["effect"]))
                break


def _names(clause: frozenset[str], other: frozenset[str]) -> float:
    """How surely a clause names what another statement says, 0 where it does not."""
    shared = len(clause & other)
    if shared < _SHARED or not other:
        return 0.0
    of_clause, of_other = shared / len(clause), shared / len(other)
    return (of_clause + of_other) / 2 if of_clause >= _CLAUSE_SHARE and of_other >= _STATEMENT_SHARE else 0.0


def _link(because: _Because, mine: str, other: str, said: frozenset[str]) -> dict[str, Any] | None:
    """Link a causal fact to a statement that is its cause or its effect, not to one that is both."""
    as_cause, as_effect = _names(because.cause, said), _names(because.effect, said)
    if bool(as_cause) == bool(as_effect) or (as_cause and because.kind == "prevents"):
        return None
    ends = (other, mine) if as_cause else (mine, other)
    confidence = round(min(0.95, because.confidence * (0.6 + 0.4 * (as_cause or as_effect))), 2)
    return {"cause": ends[0], "effect": ends[1], "kind": because.kind, "confidence": confidence}


def causes(facts: list[Mapping[str, Any]], memories: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Link facts and memories as the facts' own words say."""
    named = [(f"f{fact['n']}", str(fact["text"])) for fact in facts]
    others = [*named, *((f"m{memory['n']}", str(memory["text"])) for memory in memories)]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for mine, statement in named:
        for because in _taken_apart(statement):
            for other, said in others:
                link = _link(because, mine, other, stems(said)) if other != mine else None
                if link:
                    found.setdefault((link["cause"], link["effect"]), link)
    return list(found.values())
