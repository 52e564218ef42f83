"""Walking from memory to memory along edges, and edges that a person makes."""

from typing import Any, Literal

from memman.clock import now_ms
from memman.config.schedule import refuse_stopped
from memman.govern.held import veiled
from memman.govern.ids import one_memory
from memman.govern.stores import Chosen, answering, looking, steadily, writing
from memman.model.errors import UsageError
from memman.model.records import Edge
from memman.model.text import SHORT_ID, clean
from memman.model.vocabulary import HIDDEN
from memman.secrets.matcher import redact
from memman.store import EdgeRow
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.unit import MANUAL

Direction = Literal["to", "from"]
_FIELDS = ("uid", "text", "category", "source", "scope", "status", "ends_at", "file_changed_at")


@answering
def related(place: Chosen, part: str, *, kind: str | None = None, depth: int = 1, limit: int = 50) -> dict[str, Any]:
    """Return a memory and those around it, nearest first, as `_steps` sorts them; hidden ones are left out."""
    with looking(place) as (catalogue, queue):
        start = one_memory(part, catalogue, queue, place.name)
        reached = _reached(catalogue, start, kind, depth, limit)
        asked = catalogue.memories([start])[0]
        return {"memory": veiled(place, catalogue.reader, asked["uid"], asked), "related": reached}


@steadily
def link(place: Chosen, ends: tuple[str, str], kind: str, weight: float, note: str) -> dict[str, Any]:
    """Make an edge from the first memory to the second that no rule changes or drops."""
    refuse_stopped(place.data, "graph link")
    with looking(place) as (catalogue, queue):
        src, dst = (one_memory(part, catalogue, queue, place.name) for part in ends)
        memories = catalogue.memories([src, dst])
    uids = [memory["uid"] for memory in memories]
    held = next((uid for uid, memory in zip(uids, memories, strict=False) if memory["status"] == "review"), None)
    if held:
        raise UsageError(f"{held[:SHORT_ID]} is held back for review: approve it first with `memman insights approve`")
    if not 0 <= weight <= 1:
        raise UsageError("--weight takes a number from 0 to 1")
    if src == dst:
        raise UsageError("a memory cannot be linked to itself")
    detail = f"{MANUAL}: {redact(clean(note))}" if note else MANUAL
    with writing(place) as store, store.unit() as unit:
        unit.link_by_hand(Edge(kind, src, dst, weight, detail), now_ms())
    return {"src": uids[0], "dst": uids[1], "kind": kind, "weight": weight, "detail": detail}


def _reached(catalogue: Catalogue, start: int, kind: str | None, depth: int, limit: int) -> list[dict[str, Any]]:
    """Walk breadth first; each memory is named once, by the most telling edge of the round that found it."""
    seen, rim = {start}, [start]
    found: list[dict[str, Any]] = []
    for distance in range(1, depth + 1):
        steps = _steps(catalogue, rim, kind, seen)
        memories = {m["id"]: m for m in catalogue.memories(list(steps)) if m["status"] not in HIDDEN}
        rim = list(memories)[: limit - len(found)]
        seen.update(steps)
        found += [_found(memories[row], steps[row], distance) for row in rim]
        if not rim:
            break
    return found


def _steps(catalogue: Catalogue, rim: list[int], kind: str | None, seen: set[int]) -> dict[int, EdgeRow]:
    """Return the most telling edge to each memory not seen yet: the heaviest first, nearness in time last."""
    edges = [edge for edge in catalogue.reader.edges(rim) if edge.far not in seen and kind in {None, edge.kind}]
    steps: dict[int, EdgeRow] = {}
    for edge in sorted(edges, key=lambda edge: (edge.kind == "temporal", -edge.weight, edge.far)):
        steps.setdefault(edge.far, edge)
    return steps


def _found(memory: dict[str, Any], step: EdgeRow, distance: int) -> dict[str, Any]:
    direction: Direction = "to" if step.src == step.near else "from"
    edge = {
        "depth": distance, "kind": step.kind, "direction": direction, "weight": step.weight, "detail": step.detail,
    }  # fmt: skip
    return edge | {name: memory[name] for name in _FIELDS}
