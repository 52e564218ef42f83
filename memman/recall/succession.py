"""Superseded memories give way to what took their place, and maybe replaced ones stand behind it.

Safe on the hot path.
"""

from memman.recall.hit import Hit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from memman.store.filters import Filters
    from memman.store.sqlite.reader import SqliteReader

# Puts the memory in force before the one it superseded.
_AHEAD = 1e-6


def current(reader: "SqliteReader", hits: "list[Hit]", filters: "Filters") -> "list[Hit]":
    """Replace every superseded hit by the memory now in force, which takes over its score.

    Whoever asks in the words of the old fact is told the new one. With
    `filters.history` the old one is shown too, after it; with `filters.as_of`
    what counts is who was in force then.
    """
    steps = heirs(reader, hits, filters)
    if not steps:
        return hits
    admitted = reader.filtered(set(steps.values()), filters)
    kept = {hit.id: hit for hit in hits if filters.history or hit.id not in steps}
    for old in (hit for hit in hits if hit.id in steps):
        if steps[old.id] in admitted:
            _take_over(kept.setdefault(steps[old.id], Hit(steps[old.id])), old)
    return sorted(kept.values(), key=lambda hit: (-hit.score, hit.id))


def settled(reader: "SqliteReader", hits: "list[Hit]", filters: "Filters") -> "list[Hit]":
    """Keep what was superseded below what took its place, whatever was added to their scores."""
    steps = heirs(reader, hits, filters) if filters.history else {}
    if not steps:
        return hits
    scores = {hit.id: hit.score for hit in hits}
    for hit in hits:
        if steps.get(hit.id) in scores:
            hit.behind = steps[hit.id]
            hit.score = min(hit.score, scores[hit.behind] - _AHEAD)
    return sorted(hits, key=lambda hit: (-hit.score, hit.id))


def doubted(reader: "SqliteReader", hits: "list[Hit]", filters: "Filters", limit: int) -> "list[Hit]":
    """Mark the hits that are maybe replaced, and put the newer memory before each, as high and as sure.

    A newer one that nothing has found is brought in if `filters` admit it; the last hits make room.
    """
    known = {str(hit.row[1]): hit for hit in hits}
    found = known
    while newer := reader.newer(found, filters.as_of) if found else {}:
        for uid, (_, its) in newer.items():
            known[uid].maybe_replaced_by = its
        missing = reader.filtered((memory for memory, its in newer.values() if its not in known), filters)
        found = {str(row[1]): _brought(row) for row in reader.sound_rows(missing).values()}
        known |= found
    if not any(hit.maybe_replaced_by for hit in hits):
        return hits
    placed = newer_first([*known.values()])
    for old in reversed(placed):
        new = known.get(old.maybe_replaced_by or "")
        if new:
            new.score = max(new.score, old.score + _AHEAD)
            new.confidence, new.doubtful = max(new.confidence, old.confidence), new.doubtful and old.doubtful
    return placed[:limit]


def newer_first(hits: "list[Hit]") -> "list[Hit]":
    """Put right before each hit that is maybe replaced the newer one, unless that stands before it already."""
    shown = {hit.row[1]: hit for hit in hits if not hit.pending}
    placed: list[Hit] = []
    for hit in hits:
        chain: list[Hit] = []
        one: Hit | None = hit
        while one and one not in placed and one not in chain:
            chain.append(one)
            one = shown.get(one.maybe_replaced_by)
        placed += reversed(chain)
    return placed


def _brought(row: "tuple[Any, ...]") -> "Hit":
    """Return a hit that is as high and as sure as what it may replace, once that is known."""
    hit = Hit(row[0])
    hit.row, hit.confidence, hit.doubtful = row, 0.0, True
    return hit


def heirs(reader: "SqliteReader", hits: "Iterable[Hit]", filters: "Filters") -> dict[int, int]:
    """Return, for each superseded hit, the memory that is in force in its place."""
    return reader.heirs((hit.id for hit in hits), filters.as_of)


def _take_over(new: "Hit", old: "Hit") -> None:
    if old.score >= new.score:
        new.score, new.stands_for = old.score + _AHEAD, old.id
        new.text_score, new.text_rank = old.text_score, old.text_rank
        new.cosine, new.meaning_rank = old.cosine, old.meaning_rank
