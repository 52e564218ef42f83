"""Memories that a person wants kept: no drain retires them, whatever it concludes."""

from collections.abc import Sequence
from typing import Any

from memman.clock import now_ms
from memman.config.schedule import refuse_stopped
from memman.govern.acted import acted
from memman.govern.ids import all_named
from memman.govern.stores import Chosen, looking, steadily, writing
from memman.model.errors import UnknownId


@steadily
def protect(place: Chosen, parts: Sequence[str], *, wanted: bool = True) -> list[dict[str, Any]]:
    """Protect the memories that the ids name, or with `wanted` false no longer; return a record for each."""
    refuse_stopped(place.data, "insights protect")
    with looking(place) as (catalogue, queue):
        found = all_named(parts, catalogue, queue, place.name)
    waiting = next((one.note for one in found if one.note), None)
    if waiting:
        raise UnknownId(
            f"{waiting[-8:]} is a note still in the queue, not a memory yet: try again after the next drain"
        )
    rows = [memory for one in found for memory in one.memories]
    now = now_ms()
    with writing(place) as store:
        with store.unit() as unit:
            done = {memory: unit.protect(memory, now, wanted=wanted) for memory in rows}
        return acted(place, store.reader, done)
