"""The log of one store: what was done to which memory, and what it was before."""

from typing import Any

from memman.govern.ids import one_memory
from memman.govern.stores import Chosen, looking


def lines(
    place: Chosen, *, limit: int = 20, since: int | None = None, memory: str | None = None
) -> list[dict[str, Any]]:
    """Return the newest lines, newest first; `memory` is an id, `since` Unix milliseconds."""
    with looking(place) as (catalogue, queue):
        uid = None
        if memory is not None:
            uid = catalogue.memories([one_memory(memory, catalogue, queue, place.name)])[0]["uid"]
        return catalogue.log(limit=limit, since=since, memory=uid)
