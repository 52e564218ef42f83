"""What is relevant at all, and the small say that importance, age and use have. Safe on the hot path."""

from memman.recall.confidence import FLOOR, SILENT, Judge

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memman.embed.static import StaticTable
    from memman.recall.hit import Hit
    from memman.store.sqlite.reader import SqliteReader

# Hits looked at closely; no recall shows more.
CLOSE = 80
# A memory that a causal edge leads to from a relevant one needs no evidence of its own.
CAUSAL = "causal"

# What the three may do together: a twentieth either way.
CLAMP = 0.05
_IMPORTANCE = 0.01
_AGE = 0.02
_USE = 0.001
_MOST_USES = 10
_HALF_LIFE_MS = 30 * 86_400_000


def gated(
    reader: "SqliteReader",
    table: "StaticTable",
    hits: "list[Hit]",
    query: str,
    limit: int,
    least: float | None = None,
    told: "Callable[[str], str]" = str,
) -> "list[Hit]":
    """Keep the best `limit` hits with evidence, nudged and sorted; nothing relevant gives nothing.

    With `least` every hit must be so sure, and that alone decides. Hits come
    best first and with their rows; those that no nudge can bring among the
    first `limit` are not looked at.
    """
    judge = Judge(reader, table, query, told)
    newest = reader.newest()
    floor = FLOOR if least is None else least
    kept: list[Hit] = []
    passed: set[int] = set()
    for hit in hits:
        if len(kept) >= limit and hit.score * (1 + CLAMP) < kept[limit - 1].score * (1 - CLAMP):
            break
        judge.weigh(hit)
        led = least is None and hit.via is not None and hit.via[0] == CAUSAL and hit.via[1] in passed
        if led or hit.confidence >= floor:
            hit.nudge = nudge(hit.row, newest)
            passed.add(hit.id)
            kept.append(hit)
    if least is None and max((hit.confidence for hit in kept), default=0.0) < SILENT:
        return []
    for hit in kept:
        hit.score *= hit.nudge
    kept.sort(key=lambda hit: (-hit.score, hit.id))
    return kept[:limit]


def nudge(row: "tuple[Any, ...]", newest: int) -> float:
    """Return the factor for importance, age and use, within CLAMP of 1.

    Age is counted from the store's newest memory, so that neither the clock nor
    a long pause changes an order.
    """
    importance, recorded_at, uses = row[5], row[13], row[17]
    age = max(0, newest - recorded_at)
    fresh: float = _AGE * (2 * 0.5 ** (age / _HALF_LIFE_MS) - 1)
    sway: float = _IMPORTANCE * (importance - 3) + fresh + _USE * min(uses, _MOST_USES)
    return 1 + max(-CLAMP, min(CLAMP, sway))
