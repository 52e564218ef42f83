"""Causal links that the words of a fact give evidence of."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memman.llm.builtin.statement import PREPOSITIONS, Statement, content_of, plain, read, words_of

_CAUSE, _EFFECT = r"(?P<cause>.+)", r"(?P<effect>.+)"
# (kind, confidence, shape); the first shape that fits a sentence is taken.
_CUES = tuple(
    (kind, confidence, re.compile(shape, re.IGNORECASE))
    for kind, confidence, shape in (
        ("causes", 0.9, rf"^(?:because|due to|as a result of|thanks to) (?P<cause>[^,]+), {_EFFECT}"),
        ("causes", 0.7, rf"^since (?!\d|then|last|yesterday)(?P<cause>[^,]+), {_EFFECT}"),
        ("causes", 0.9, rf"^{_EFFECT}\b(?:is|are|was|were) (?:caused|triggered) by {_CAUSE}"),
        ("causes", 0.9, rf"^the (?:root )?(?:cause|reason) (?:of|for|behind) (?P<effect>.+?) (?:is|was) (?:that )?{_CAUSE}"),
        ("causes", 0.9, rf"^{_EFFECT}(?<!not)(?<!just)(?<!,) because(?: of)? {_CAUSE}"),
        ("causes", 0.9, rf"^{_EFFECT}, because(?: of)? {_CAUSE}"),
        ("causes", 0.85, rf"^{_EFFECT}(?<!not) (?:due to|owing to|as a result of|thanks to|caused by) {_CAUSE}"),
        ("causes", 0.6, rf"^{_EFFECT},? since (?!\d|then|last|yesterday|january|february|march|april|may|june|july|monday|version|the \w+ release|v\d){_CAUSE}"),
        ("causes", 0.85, rf"^{_CAUSE} (?:led to|leads to|resulted in|results in) {_EFFECT}"),
        ("causes", 0.85, rf"^{_CAUSE}(?:, and)?[,;.] (?:as a result|therefore|consequently|hence),? {_EFFECT}"),
        ("causes", 0.65, rf"^{_CAUSE}, so (?!that\b|far\b){_EFFECT}"),
        ("enables", 0.75, rf"^{_CAUSE} (?:so that|in order to) {_EFFECT}"),
        ("prevents", 0.75, rf"^{_CAUSE} to (?:avoid|prevent) {_EFFECT}"),
        ("prevents", 0.8, rf"^{_CAUSE} (?:prevents|prevented|fixes|fixed|avoids|avoided|solves|solved|stops|eliminates) {_EFFECT}"),
        ("enables", 0.75, rf"^{_CAUSE} (?:enables|enabled|allows|allowed|makes it possible to) {_EFFECT}"),
        ("causes", 0.8, rf"^{_CAUSE} (?:causes|caused|triggers|triggered|breaks|broke) {_EFFECT}"),
    )
)
_TRIGGER = re.compile(
    r"\b(?:because|since|due|owing|thanks|result(?:s|ed)?|caused?|causes|reason|led|leads|therefore|consequently|hence|so|order"
    r"|avoid(?:s|ed)?|prevent(?:s|ed)?|fix(?:es|ed)|solve[sd]|stops|eliminates|enable[sd]|allow(?:s|ed)|makes|break[s]|broke"
    r"|trigger(?:s|ed))\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(r"\?$|^(?:if|whether)\b|\b(?:might|maybe|perhaps|could|would|if|not because|does not|did not|doubt)\b", re.IGNORECASE)
_BOUND = 800  # characters of a sentence looked at
_SHARED = 2  # content words a clause and a statement must have in common, at least
_CLAUSE_SHARE, _STATEMENT_SHARE = 0.6, 0.5


class _Because(NamedTuple):
    """One sentence taken apart at its causal words."""

    kind: str
    confidence: float
    cause: frozenset[str]
    effect: frozenset[str]


def _meaning(text: str) -> frozenset[str]:
    return frozenset(content_of(words_of(text))) - PREPOSITIONS


def _taken_apart(statement: Statement) -> Iterator[_Because]:
    """The causal sentences of a statement."""
    for sentence in statement.sentences:
        text = sentence.text[:_BOUND].rstrip(" .!")
        if not _TRIGGER.search(text) or _UNSURE.search(text):
            continue
        for kind, confidence, shape in _CUES:
            found = shape.search(text)
            if found:
                yield _Because(kind, confidence, _meaning(found["cause"]), _meaning(found["effect"]))
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
    """The links between the facts, and between facts and memories, that a fact's own words state."""
    named = [(f"f{fact['n']}", read(fact["text"])) for fact in facts]
    others = [*named, *((f"m{memory['n']}", read(memory["text"])) for memory in memories)]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for mine, statement in named:
        for because in _taken_apart(statement):
            for other, read_other in others:
                if other == mine or not read_other.sentences:
                    continue
                link = _link(because, mine, other, _said(read_other))
                if link:
                    found.setdefault((link["cause"], link["effect"]), link)
    return list(found.values())


def _said(statement: Statement) -> frozenset[str]:
    return frozenset().union(*(_meaning(sentence.text) for sentence in statement.sentences))
