"""What waits for a person: one list of it, each with why it waits, and the other side where there is one."""

from collections.abc import Sequence
from typing import Any

from memman.commands.memories import all_named, veiled
from memman.commands.place import Place, looking, reading
from memman.model.errors import UsageError
from memman.model.vocabulary import WISHES
from memman.store.sqlite import doubts
from memman.store.sqlite.catalogue import Catalogue

# The kinds of what waits, in the order of the list. The id is the older one's where there are two.
HELD, MAYBE, CONTRADICTED, UNCONFIRMED = "held back", "maybe replaced", "contradicted", "unconfirmed"
_MOST = 500


def listed(place: Place, *, limit: int = 20) -> list[dict[str, Any]]:
    """Return what waits, by kind and newest first; what is held back says nothing to an agent."""
    with reading(place) as catalogue:
        return [_told(place, catalogue, *one) for one in found(catalogue)[:limit]]


def shown(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Return all that is known of what the ids name, both sides. Raises UsageError for what does not wait."""
    with looking(place) as (catalogue, queue):
        named = [row for one in all_named(parts, catalogue, queue, place.name) for row in one.memories]
        known = {row: (kind, row, other) for kind, row, other in reversed(found(catalogue))}
        if away := next((row for row in named if row not in known), None):
            uid = catalogue.memories([away])[0]["uid"]
            raise UsageError(f"{uid[:8]} does not wait for review: `memman insights show {uid[:8]}` shows it")
        records = [_told(place, catalogue, *known[row]) for row in dict.fromkeys(named)]
        return [one | {"provenance": catalogue.receipt(one["note"])} for one in records]


def found(catalogue: Catalogue) -> list[tuple[str, int, int]]:
    """Return (kind, memory, the other side or 0) of what waits."""
    held = [one["id"] for one in catalogue.listed(category=None, source=None, status="review", limit=_MOST)]
    pairs, contradicted = catalogue.doubtful(), doubts.contradicted(catalogue.reader)
    said = doubts.claimed(catalogue.reader.db)
    told = {*pairs, *pairs.values(), *contradicted.values(), *(new for _, new, _ in said)}
    wishes = [row for row in doubts.lone(catalogue.reader.db, WISHES) if row not in told]
    return [
        *((HELD, row, 0) for row in held),
        *((MAYBE, old, new) for old, new in pairs.items()),
        *((MAYBE, old, new) for old, new, sure in said if not sure),
        *((CONTRADICTED, old, new) for old, new, sure in said if sure),
        *((CONTRADICTED, old, new) for old, new in contradicted.items()),
        *((UNCONFIRMED, row, 0) for row in wishes),
    ]


def count(catalogue: Catalogue) -> dict[str, int]:
    """Count what waits by kind."""
    kinds = [kind for kind, _, _ in found(catalogue)]
    return {kind: kinds.count(kind) for kind in (HELD, MAYBE, CONTRADICTED, UNCONFIRMED) if kind in kinds}


def _told(place: Place, catalogue: Catalogue, kind: str, memory: int, other: int) -> dict[str, Any]:
    record = catalogue.memories([memory])[0]
    beside = catalogue.memories([other])[0] if other else None
    told = {"kind": kind, "why": _why(catalogue, kind, record, beside), "other": beside} | record
    return veiled(place, catalogue.reader, record["uid"], told)


def _why(catalogue: Catalogue, kind: str, record: dict[str, Any], other: dict[str, Any] | None) -> str:
    against = doubts.why_against(catalogue.reader, other["uid"], record["uid"]) if other else ""
    said = against or doubts.why(catalogue.reader, record["uid"])
    if kind == HELD and not said:
        from memman.govern.review import reason

        return reason(record["text"])
    return said if kind != UNCONFIRMED else "nobody but an agent has said so"
