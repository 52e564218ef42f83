"""Causal links that the words of a fact give evidence of."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memman.judge.judge import Judge
from memman.llm.builtin.patterns import choice, cues
from memman.llm.builtin.split import sentences
from memman.model.terms import stems

_CAUSE, _EFFECT = "(?P<cause>.+)", "(?P<effect>.+)"
# After "since" these tell a time, not a reason.
_TIME = choice(
    r"""\d then last yesterday january february march april may june july august september october november december
    monday tuesday wednesday thursday friday saturday sunday version the_\w+_release v\d""",
)
_COMMA = ",\uff0c"
# What stands between an effect and its cause, or before the cause, in the other languages that the judge knows.
_AMID = choice(
    r"""weil da denn wegen aufgrund_von aufgrund infolge dank porque
    ya_que puesto_que debido_a a_causa_de por_culpa_de
    gracias_a parce_qu[e'\u2019] car puisqu[e'\u2019] à_cause_d[eu'\u2019] en_raison_d[eu'\u2019]
    grâce_à devido_a por_causa_d[aeo] já_que"""
)
_THEREFORE = choice(
    r"""deshalb daher deswegen folglich por_eso por_lo_tanto así_que donc par_conséquent c'est_pourquoi
    por_isso portanto"""
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
        ("causes", 0.85, rf"^{_AMID}(?!\w) (?P<cause>[^,]+), {_EFFECT}"),
        ("causes", 0.85, rf"^{_EFFECT}(?<!\w){_AMID}(?!\w) ?{_CAUSE}"),
        ("causes", 0.75, rf"^{_CAUSE}[,;.] (?:y |e |et |und )?{_THEREFORE}(?!\w) {_EFFECT}"),
        ("causes", 0.85, rf"^(?:因为|由于)(?P<cause>[^{_COMMA}]+)[{_COMMA}](?:所以|因此)?{_EFFECT}"),
        ("causes", 0.85, rf"^{_EFFECT}[{_COMMA}]?(?:是因为|因为|是由于){_CAUSE}"),
        ("causes", 0.85, rf"^{_CAUSE}(?:导致|造成)了?{_EFFECT}"),
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
_FOREIGN = re.compile(rf"(?<!\w)(?:{_AMID}|{_THEREFORE})(?!\w)|因为|由于|导致|造成", re.IGNORECASE)
_UNSURE = cues("if whether might maybe perhaps could would not_because does_not did_not doubt")
_BOUND = 800  # characters of a sentence looked at
_SHARED = 2  # content words a clause and a statement must have in common, at least
_CLAUSE_SHARE, _STATEMENT_SHARE = 0.6, 0.5
# How near the judge's vectors of a clause and a statement must be where these share words, and where they do not.
_NEAR, _SURELY_NEAR = 0.65, 0.85
Found = dict[str, Any]
Statements = list[tuple[str, str]]


class _Because(NamedTuple):
    """One sentence taken apart at its causal words."""

    kind: str
    confidence: float
    cause: str
    effect: str


def _taken_apart(statement: str) -> Iterator[_Because]:
    """Take the causal sentences of a statement apart."""
    for sentence in sentences(statement):
        text = sentence[:_BOUND].rstrip(" .!")
        if not (_TRIGGER.search(text) or _FOREIGN.search(text)) or _UNSURE.search(text) or sentence.endswith("?"):
            continue
        for kind, confidence, shape in _CUES:
            found = shape.search(text)
            if found:
                yield _Because(kind, confidence, found["cause"], found["effect"])
                break


def _names(clause: frozenset[str], other: frozenset[str]) -> float:
    """How surely a clause names what another statement says, 0 where it does not."""
    shared = len(clause & other)
    if shared < _SHARED or not other:
        return 0.0
    of_clause, of_other = shared / len(clause), shared / len(other)
    return (of_clause + of_other) / 2 if of_clause >= _CLAUSE_SHARE and of_other >= _STATEMENT_SHARE else 0.0


def _linked(because: _Because, ends: tuple[str, str], as_cause: float, as_effect: float) -> Found | None:
    """Link a causal fact to a statement that is its cause or its effect, not to one that is both."""
    if bool(as_cause) == bool(as_effect) or (as_cause and because.kind == "prevents"):
        return None
    mine, other = ends
    cause, effect = (other, mine) if as_cause else (mine, other)
    confidence = round(min(0.95, because.confidence * (0.6 + 0.4 * (as_cause or as_effect))), 2)
    return {"cause": cause, "effect": effect, "kind": because.kind, "confidence": confidence}


def _worded(because: _Because, mine: str, others: Statements) -> Iterator[Found | None]:
    """Link a causal fact to the statements that its clauses name by their words."""
    cause, effect = stems(because.cause), stems(because.effect)
    for other, said in others:
        words = stems(said)
        yield _linked(because, (mine, other), _names(cause, words), _names(effect, words))


def _meant(because: _Because, mine: str, others: Statements, judge: Judge) -> Iterator[Found | None]:
    """Link a causal fact to the statement that the judge finds nearest to each of its clauses, if it is near."""
    clauses = (because.cause, because.effect)
    about = judge.about([*clauses, *(said for _, said in others)])
    near = (about[:2] @ about[2:].T).tolist()
    for side, clause in enumerate(clauses):
        at = max(range(len(others)), key=near[side].__getitem__)
        score, opposite = near[side][at], near[1 - side][at]
        least = _NEAR if len(stems(clause) & stems(others[at][1])) >= _SHARED else _SURELY_NEAR
        if score >= least and score > opposite:
            yield _linked(because, (mine, others[at][0]), *((score, 0.0) if side == 0 else (0.0, score)))


def causes(
    facts: list[Mapping[str, Any]], memories: list[Mapping[str, Any]], judge: Judge | None = None
) -> list[Found]:
    """Link facts and memories as the facts' own words say; with a judge, whatever words the other one uses."""
    named = [(f"f{fact['n']}", str(fact["text"])) for fact in facts]
    others = [*named, *((f"m{memory['n']}", str(memory["text"])) for memory in memories)]
    found: dict[tuple[str, str], Found] = {}
    for mine, statement in named:
        rest = [(other, said) for other, said in others if other != mine]
        for because in _taken_apart(statement) if rest else ():
            links = [*_worded(because, mine, rest), *(_meant(because, mine, rest, judge) if judge else ())]
            for link in filter(None, links):
                found.setdefault((link["cause"], link["effect"]), link)
    return list(found.values())
