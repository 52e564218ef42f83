"""Supersessions that were wrong: a person takes them back, and what was superseded holds again."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.commands.memories import all_memories, veiled
from memman.commands.place import Place, looking, steadily, writing
from memman.config.schedule import refuse_stopped
from memman.model.errors import UsageError
from memman.model.text import SHORT_ID
from memman.store.sqlite import index
from memman.store.sqlite.catalogue import Catalogue

if TYPE_CHECKING:
    from memman.store.sqlite.unit import SqliteUnit

# Lines of a memory's log that are looked at.
_LINES = 10_000
# What is told of each.
_TOLD = ("text", "successor", "ends_at", "file_changed_at")
_WHY = "the reinstatement was undone"


@steadily
def reinstate(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Put superseded memories in force again, each with what had taken its place as `successor`."""
    refuse_stopped(place.data, "insights reinstate")
    before = _named(place, parts)
    now = now_ms()
    with writing(place) as store, store.unit() as unit:
        done = {one["id"]: unit.reinstate(one["id"], now) for one in before}
    return _records(place, before, done)


@steadily
def undo(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Have memories superseded again by what had taken their place. Raises UsageError where that holds no longer."""
    refuse_stopped(place.data, "insights reinstate --undo")
    before = _named(place, parts)
    _check_in_force(place, before)
    now = now_ms()
    with writing(place) as store, store.unit() as unit:
        done = {one["id"]: _undone(unit, one, now) for one in before}
    return _records(place, before, done)


def _undone(unit: "SqliteUnit", memory: dict[str, Any], now: int) -> bool:
    """Close a memory as it was closed before it was reinstated."""
    was = memory["was"]
    heir = index.row_of(unit.db, was["superseded_by"]) if was else None
    return bool(was and heir) and unit.supersede(memory["id"], heir or 0, now, was["valid_to"], _WHY)


def _named(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Return the memories that the ids name."""
    with looking(place) as (catalogue, queue):
        memories = catalogue.memories(all_memories(parts, catalogue, queue, place.name))
        return [one | {"successor": _successor(catalogue, one), "was": _was(catalogue, one)} for one in memories]


def _successor(catalogue: Catalogue, memory: dict[str, Any]) -> str | None:
    return next((one["uid"] for one in catalogue.successors(memory["id"])), None)


def _was(catalogue: Catalogue, memory: dict[str, Any]) -> dict[str, Any] | None:
    """Return how a memory was closed before it was last reinstated, None where it never was."""
    lines = catalogue.log(limit=_LINES, memory=memory["uid"])
    said = next((line["before"] for line in lines if line["verb"] == "reinstate"), None)
    return said if said and said.get("superseded_by") else None


def _check_in_force(place: Place, memories: list[dict[str, Any]]) -> None:
    """Raise UsageError where what had taken a memory's place is not in force, so that nothing is closed for it."""
    with looking(place) as (catalogue, _):
        for one in (one for one in memories if one["was"] and one["status"] == "current"):
            heirs = catalogue.memories([*catalogue.reader.located([one["was"]["superseded_by"]])])
            if not heirs or heirs[0]["status"] != "current":
                raise UsageError(f"what took the place of {one['uid'][:SHORT_ID]} is not in force any more")


def _records(place: Place, before: list[dict[str, Any]], done: dict[int, bool]) -> list[dict[str, Any]]:
    with looking(place) as (catalogue, _):
        records = (
            {"id": one["uid"], "changed": done[one["id"]]} | {name: one[name] for name in _TOLD} for one in before
        )
        return [veiled(place, catalogue.reader, record["id"], record) for record in records]
