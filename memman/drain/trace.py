"""What each stage made of a note, in a line that a person can follow."""

from collections import Counter
from collections.abc import Callable

from memman.model.plural import counted
from memman.model.records import Fact
from memman.model.text import clean
from memman.model.vocabulary import WITHHELD
from memman.pipeline.plan import Plan

_SHOWN = 80


def _redact(plan: Plan) -> str:
    text = plan.note.text + plan.note.reply
    marks = text.count("[redacted:") + text.count("[private]")
    return f"{counted(marks, 'secret')} taken out" if marks else "nothing secret"


def _extract(plan: Plan) -> str:
    if not plan.facts:
        return f"nothing worth keeping in this {plan.note.channel}"
    facts = "; ".join(f"{fact.category} {fact.importance}: {_told(fact)}" for fact in plan.facts)
    return f"{counted(len(plan.facts), 'fact')}: {facts}"


def _told(fact: Fact) -> str:
    return WITHHELD if fact.held else clean(fact.text, _SHOWN)


def _reconcile(plan: Plan) -> str:
    texts = {c.uid: clean(c.text, _SHOWN) for found in plan.candidates for c in found}
    verdicts = [f"{v.action} of «{texts.get(v.memory, v.memory)}»" for v in plan.verdicts]
    candidates = sum(map(len, plan.candidates))
    return f"{counted(candidates, 'candidate')}, " + ("; ".join(verdicts) or "all new")


def _enrich(plan: Plan) -> str:
    names = dict.fromkeys(name for fact in plan.facts if not fact.held for name in fact.entities)
    return "names " + (", ".join(names) or "nothing")


def _embed(plan: Plan) -> str:
    if plan.vectors is None:
        return "no vectors"
    count, dimension = plan.vectors.shape
    return f"{counted(count, 'vector')} of {dimension} dimensions"


def _link(plan: Plan) -> str:
    kinds = Counter(edge.kind for edge in plan.edges)
    return "edges: " + (", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())) or "none")


def _commit(plan: Plan) -> str:
    done = plan.outcome
    if done is None or done.repeated:
        return "was stored already"
    added = ", ".join(uid[:8] for uid in done.added) or "nothing"
    return f"stored {added}; {done.superseded} superseded, {done.known} known"


_LINES: dict[str, Callable[[Plan], str]] = {
    "redact": _redact,
    "extract": _extract,
    "reconcile": _reconcile,
    "enrich": _enrich,
    "embed": _embed,
    "link": _link,
    "commit": _commit,
}


def line(stage: str, plan: Plan) -> str:
    """Say what `stage` made of the note."""
    return f"{plan.note.uid[-8:]} {stage:<9} {_LINES[stage](plan)}"
