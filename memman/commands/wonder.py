"""`memman wonder`: what memory was asked and could not answer, what it holds weakly, and what is said otherwise."""

from typing import Any

from memman.commands.inbox import CONTRADICTED, MAYBE, found, told
from memman.commands.memories import Records, veiled
from memman.commands.place import Place, reading
from memman.commands.printing import ago, cells, freshness, short, table, text
from memman.commands.verb import limit_option, verb
from memman.config.asked import unanswered
from memman.hot.recall_session import opened
from memman.model.plural import counted
from memman.pipeline.comparison import numbers, stems
from memman.store.filters import Filters
from memman.store.sqlite.beliefs import lone

# Questions that are put to memory again, the newest.
_MOST = 500
# The share of their words that two of them have in common which are one.
_SAME = 0.75


def _open_questions(place: Place) -> Records:
    """Return the questions that still have no answer, the most often asked first; nearly the same words are one."""
    groups: Records = []
    for one in reversed(unanswered(place.data, place.name)[-_MOST:]):
        same = next((group for group in groups if _alike(group["question"], one.question)), None)
        if same:
            same["times"] += 1
        else:
            groups.append({"question": one.question, "times": 1, "last": one.at, "agent": one.agent})
    recalls = opened(place.data, place.name)
    try:
        left = [
            one
            for one in groups
            if all(hit.doubtful for hit in recalls.hits(one["question"], Filters(anywhere=True), 1))
        ]
    finally:
        recalls.close()
    return sorted(left, key=lambda one: -one["times"])


def _alike(one: str, other: str) -> bool:
    both = stems(one) | stems(other)
    return len(stems(one) & stems(other)) >= _SAME * len(both) and numbers(one) == numbers(other)


def _print(doubts: dict[str, Any]) -> None:
    if not (doubts["asked"] or doubts["weak"] or doubts["against"]):
        text("nothing: no question is open, and nothing is held weakly or said otherwise")
    if doubts["asked"]:
        text('asked and never answered: memman remember "…" answers')
        table(
            (f"  {counted(one['times'], 'time')}", f"last {ago(one['last'])} ago", one["question"])
            for one in doubts["asked"]
        )
        _more(doubts, "asked")
    if doubts["weak"]:
        text("held weakly, for only an agent has said so: memman review approve ID, or reject ID")
        table(cells(one, _shown(one)) for one in doubts["weak"])
        _more(doubts, "weak")
    if doubts["against"]:
        text("said otherwise: memman review approve ID, if the second holds, or reject ID")
        for one in doubts["against"]:
            text(f"  {_named(one)}")
            text(f"    {one['kind']} by {_named(one['other'])}")
        _more(doubts, "against")


def _named(record: dict[str, Any]) -> str:
    return "  ".join(filter(None, (short(record["uid"]), ", ".join(freshness(record)), record["text"])))


def _more(doubts: dict[str, Any], kind: str) -> None:
    if left := doubts["left"][kind]:
        text(f"  and {left} more: --limit lists more")


def _shown(record: dict[str, Any]) -> str:
    return f"shown {counted(record['uses'], 'time')}" if record["uses"] else ""


@verb(shows=_print)
@limit_option
def wonder(place: Place, *, limit: int = 20) -> dict[str, Any]:
    """List what was asked and never answered, what is held weakly, and what is said otherwise.

    A question counts that `recall` had no sure answer to, here or in another repository, and still has not.
    """
    asked = _open_questions(place)
    with reading(place) as catalogue:
        weak = sorted(catalogue.memories(lone(catalogue.reader.db)), key=lambda one: -one["uses"])
        against = [one for one in found(catalogue) if one[0] in {MAYBE, CONTRADICTED}]
        return {
            "asked": asked[:limit],
            "weak": [veiled(place, catalogue.reader, one["uid"], one) for one in weak[:limit]],
            "against": [told(place, catalogue, *one) for one in against[:limit]],
            "left": {
                kind: max(0, len(every) - limit)
                for kind, every in (("asked", asked), ("weak", weak), ("against", against))
            },
        }
