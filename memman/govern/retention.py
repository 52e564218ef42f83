"""What is least worth keeping, and putting it out of recall: archived memories are kept, and come back on request."""

from collections.abc import Sequence
from typing import Any

from memman.clock import now_ms
from memman.commands.memories import changed, veiled
from memman.commands.place import Place, reading
from memman.config.schedule import refuse_stopped
from memman.model.worth import BOUND, reasons, worth
from memman.store.sqlite import keeping

_BY_HAND = "by hand"


def candidates(place: Place, *, below: float = BOUND, limit: int | None = 20) -> list[dict[str, Any]]:
    """Return the current memories worth less than `below` and not immune, the least first, with `worth` and `why`."""
    now = now_ms()
    with reading(place) as catalogue:
        kept = keeping.kept(catalogue.reader, keeping.standings(catalogue.reader))
        valued = sorted((worth(one, now), row) for row, one in kept.items() if not one.immune)
        least = [(value, row) for value, row in valued if value < below][:limit]
        memories = catalogue.memories([row for _, row in least])
        told = (
            record | {"worth": round(value, 3), "why": reasons(kept[record["id"]], now)}
            for record, (value, _) in zip(memories, least, strict=True)
        )
        return [veiled(place, catalogue.reader, record["uid"], record) for record in told]


def archive(place: Place, parts: Sequence[str], why: str = _BY_HAND) -> list[dict[str, Any]]:
    """Put memories out of recall, logged with `why`; return a record for each."""
    return changed(
        place, parts, "insights archive", lambda _, unit, memory, now: unit.forget(memory, now, "archive", why)
    )


def collect(place: Place, found: Sequence[dict[str, Any]], below: float) -> list[dict[str, Any]]:
    """Archive those of the candidates `found` that still are: what was used, said again or protected since is kept."""
    refuse_stopped(place.data, "gc")
    still = {one["uid"]: one for one in candidates(place, below=below, limit=None)}
    return archive(place, [one["uid"] for one in found if one["uid"] in still], f"gc: worth less than {below:g}")
