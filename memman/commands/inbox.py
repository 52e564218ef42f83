"""What waits for a person, each with why it waits, and the other side where there is one."""

from typing import Any

from memman.commands.memories import veiled
from memman.commands.place import Place
from memman.model.vocabulary import WISHES
from memman.store.sqlite import beliefs
from memman.store.sqlite.catalogue import Catalogue

# The kinds of what waits, in the order of the list. The id is the older one's where there are two.
HELD, MAYBE, CONTRADICTED = "held back", "maybe replaced", "contradicted"
UNWANTED, UNCONFIRMED = "to forget", "unconfirmed"
# Of those that are held back, so many are looked at.
_MOST = 500


def found(catalogue: Catalogue) -> list[tuple[str, int, int]]:
    """Return (kind, memory, the other side or 0) of what waits."""
    held = [one["id"] for one in catalogue.listed(status="review", limit=_MOST)]
    pairs, contradicted = catalogue.doubtful(), beliefs.contradicted(catalogue.reader)
    said = beliefs.claimed(catalogue.reader.db)
    unwanted = beliefs.unwanted(catalogue.reader.db)
    told = {*unwanted, *pairs, *pairs.values(), *contradicted.values(), *(new for _, new, _ in said)}
    wishes = [row for row in beliefs.lone(catalogue.reader.db, WISHES) if row not in told]
    return [
        *((HELD, row, 0) for row in held),
        *((MAYBE, old, new) for old, new in pairs.items()),
        *((MAYBE, old, new) for old, new, sure in said if not sure),
        *((CONTRADICTED, old, new) for old, new, sure in said if sure),
        *((CONTRADICTED, old, new) for old, new in contradicted.items()),
        *((UNWANTED, row, 0) for row in unwanted),
        *((UNCONFIRMED, row, 0) for row in wishes),
    ]


def count(catalogue: Catalogue) -> dict[str, int]:
    """Count what waits by kind."""
    kinds = [kind for kind, _, _ in found(catalogue)]
    return {kind: kinds.count(kind) for kind in (HELD, MAYBE, CONTRADICTED, UNWANTED, UNCONFIRMED) if kind in kinds}


def told(place: Place, catalogue: Catalogue, kind: str, memory: int, other: int) -> dict[str, Any]:
    """Describe what waits, with the other side; what is held back says nothing to an agent."""
    record = catalogue.memories([memory])[0]
    beside = catalogue.memories([other])[0] if other else None
    told = {"kind": kind, "why": _why(catalogue, kind, record, beside), "other": beside} | record
    return veiled(place, catalogue.reader, record["uid"], told)


def _why(catalogue: Catalogue, kind: str, record: dict[str, Any], other: dict[str, Any] | None) -> str:
    against = beliefs.why_against(catalogue.reader, other["uid"], record["uid"]) if other else ""
    said = against or beliefs.why(catalogue.reader, record["uid"])
    if kind == HELD and not said:
        return reason(record["text"])
    return {UNCONFIRMED: "nobody but an agent has said so", UNWANTED: "an agent asks for it"}.get(kind, said)


def reason(text: str) -> str:
    """Say why a text was held back, as far as it shows."""
    from memman.pipeline.injection import STEERS, planted

    return planted(text) or f"{STEERS}, or hid text"


def why_held(catalogue: Catalogue, record: dict[str, Any]) -> dict[str, str]:
    """Say why a memory is held back, where it is."""
    if record["status"] != "review":
        return {}
    return {"why": beliefs.why(catalogue.reader, record["uid"]) or reason(record["text"])}
