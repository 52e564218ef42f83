"""What is relevant at all, and the small say that importance, age and use have. Safe on the hot path."""

from memman.model.terms import stems

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memman.recall.hit import Hit
    from memman.store.sqlite.reader import SqliteReader

# Hits looked at closely; no recall shows more.
CLOSE = 80
# Evidence a hit must have: its cosine plus COVERED times the share of the query's words it holds.
EVIDENCE = 0.42
COVERED = 0.5
# Without vectors, words alone must make up this share of the query.
WORDS_ONLY = 0.34
# A memory that a causal edge leads to from a relevant one needs no evidence of its own.
CAUSAL = "causal"

# What the three may do together: a twentieth either way.
CLAMP = 0.05
_IMPORTANCE = 0.01
_AGE = 0.02
_USE = 0.001
_MOST_USES = 10
_HALF_LIFE_MS = 30 * 86_400_000


def gated(reader: "SqliteReader", hits: "list[Hit]", query: str, limit: int) -> "list[Hit]":
    """Keep the best `limit` hits with evidence, nudged and sorted; nothing relevant gives nothing.

    Hits come best first; those that no nudge can bring among the first `limit`
    are not looked at.
    """
    hits = hits[:CLOSE]
    rows = reader.rows({hit.id for hit in hits} | {hit.stands_for for hit in hits if hit.stands_for})
    asked = stems(query)
    newest = reader.newest()
    kept: list[Hit] = []
    passed: set[int] = set()
    for hit in hits:
        if len(kept) >= limit and hit.score * (1 + CLAMP) < kept[limit - 1].score * (1 - CLAMP):
            break
        hit.row = rows[hit.id]
        hit.coverage = max(coverage(asked, rows[place]) for place in (hit.id, hit.stands_for) if place)
        led = hit.via is not None and hit.via[0] == CAUSAL and hit.via[1] in passed
        if led or relevant(hit):
            hit.nudge = nudge(hit.row, newest)
            passed.add(hit.id)
            kept.append(hit)
    for hit in kept:
        hit.score *= hit.nudge
    kept.sort(key=lambda hit: (-hit.score, hit.id))
    return kept[:limit]


def coverage(asked: frozenset[str], row: "tuple[Any, ...]") -> float:
    """Return the share of the query's stems that a memory's text, entities or keywords hold."""
    if not asked:
        return 0.0
    return len(asked & stems(f"{row[3]} {row[6]} {row[7]}")) / len(asked)


def relevant(hit: "Hit") -> bool:
    """Whether words and meaning together speak for the hit."""
    if hit.cosine is None:
        return hit.coverage >= WORDS_ONLY
    return hit.cosine + COVERED * hit.coverage >= EVIDENCE


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
