"""Walking from memory to memory along edges, and edges that a person makes."""

from collections.abc import Sequence
from typing import Any, Literal

from memman.clock import now_ms
from memman.commands.place import Place, looking, reading, standing, steadily, writing
from memman.config.env import Settings
from memman.config.schedule import refuse_stopped
from memman.govern import likeness
from memman.govern.held import veiled
from memman.govern.ids import one_memory
from memman.model.errors import UsageError
from memman.model.records import Edge
from memman.model.terms import name as compared
from memman.model.text import SHORT_ID, clean
from memman.model.vocabulary import NEWER
from memman.providers.build import builtin_llm
from memman.store import EdgeRow
from memman.store.filters import Filters
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.index import MANUAL

Direction = Literal["to", "from"]
_FIELDS = ("uid", "text", "category", "source", "unconfirmed", "scope", "status", "ends_at", "file_changed_at")


# What an edge of each kind answers is a chain of them, or one step: what happened around a memory, all that names the
# same things, why it is so, and what is alike.
DEPTHS = {"temporal": 2, "entity": 2, "causal": 5, "semantic": 1, NEWER: 1, None: 1}
# What a memory is to the one that an edge leads to it from.
_CAUSAL: dict[Direction, str] = {"from": "because", "to": "led to"}
_LIKENESS: dict[likeness.Finding, str] = {"same": "says the same", "against": "says otherwise", "": ""}


def related(
    place: Place,
    part: str,
    *,
    kind: str | None = None,
    depth: int | None = None,
    limit: int = 50,
    everywhere: bool = False,
) -> dict[str, Any]:
    """Return a memory and those around it that hold here, or with `everywhere` all, nearest first.

    `says` is what each is to the memory before it, `elsewhere` counts what was left out at first hand.
    """
    with looking(place) as (catalogue, queue):
        start = one_memory(part, catalogue, queue, place.name)
        walk = _Walk(catalogue, kind, Filters(history=True), None if everywhere else _here(catalogue))
        reached = walk.reached(start, DEPTHS[kind] if depth is None else depth, limit)
        _compare(place, catalogue, walk.alike)
        asked = catalogue.memories([start])[0]
        return {
            "memory": veiled(place, catalogue.reader, asked["uid"], asked),
            "related": reached,
            "elsewhere": walk.elsewhere,
        }


def about(
    place: Place, name: str, *, limit: int = 50, history: bool = False, everywhere: bool = False
) -> dict[str, Any]:
    """Return all memories that mention a name, newest first, with or without edges."""
    if not compared(name):
        raise UsageError("there is no name to look for: give one, as it is written")
    with reading(place) as catalogue:
        scopes = None if everywhere else _here(catalogue)
        rows = catalogue.about((name,), Filters(history=history).scoped(scopes), limit)
        found = [{field: one[field] for field in (*_FIELDS, "valid_from")} for one in catalogue.memories(rows)]
        return {"name": name, "memories": found}


@steadily
def link(place: Place, ends: tuple[str, str], kind: str, weight: float, note: str) -> dict[str, Any]:
    """Make an edge from the first memory to the second that no rule changes or drops."""
    refuse_stopped(place.data, "graph link")
    with looking(place) as (catalogue, queue):
        src, dst = (one_memory(part, catalogue, queue, place.name) for part in ends)
        memories = catalogue.memories([src, dst])
    uids = [memory["uid"] for memory in memories]
    held = next((uid for uid, memory in zip(uids, memories, strict=False) if memory["status"] == "review"), None)
    if held:
        raise UsageError(f"{held[:SHORT_ID]} is held back for review: approve it first with `memman review approve`")
    if not 0 <= weight <= 1:
        raise UsageError("--weight takes a number from 0 to 1")
    if src == dst:
        raise UsageError("a memory cannot be linked to itself")
    detail = f"{MANUAL}: {clean(note)}" if note else MANUAL
    with writing(place) as store, store.unit() as unit:
        unit.link_by_hand(Edge(kind, src, dst, weight, detail), now_ms())
    return {"src": uids[0], "dst": uids[1], "kind": kind, "weight": weight, "detail": detail}


def _compare(place: Place, catalogue: Catalogue, alike: Sequence[tuple[dict[str, Any], EdgeRow]]) -> None:
    """Say of each record whether it says the same as what it is alike to, or otherwise."""
    texts = catalogue.reader.texts(row for _, edge in alike for row in (edge.near, edge.far))
    pairs = [(texts[min(edge.near, edge.far)], texts[max(edge.near, edge.far)]) for _, edge in alike]
    judge = builtin_llm(Settings.load(place.data, place.name)).judge if pairs else None
    for (record, _), found in zip(alike, likeness.compared(judge, pairs), strict=True):
        record["says"] = _LIKENESS[found]


def _here(catalogue: Catalogue) -> frozenset[int] | None:
    return catalogue.reader.scopes(standing())


class _Walk:
    """Walking along the edges of a kind, or of all, through memories that `filters` and `scopes` admit."""

    def __init__(self, catalogue: Catalogue, kind: str | None, filters: Filters, scopes: frozenset[int] | None) -> None:
        self.catalogue, self.kind = catalogue, kind
        self.filters, self.scopes = filters, scopes
        self.names: set[str] = set()
        self.led: dict[int, bool] = {}
        self.elsewhere = 0
        self.alike: list[tuple[dict[str, Any], EdgeRow]] = []

    def reached(self, start: int, depth: int, limit: int) -> list[dict[str, Any]]:
        """Walk breadth first; each memory is named once, by the most telling edge of the round that found it."""
        seen, rim = {start}, [start]
        found: list[dict[str, Any]] = []
        for distance in range(1, depth + 1):
            steps = self._steps(rim, seen)
            memories = {memory["id"]: memory for memory in self.catalogue.memories(self._admitted(list(steps)))}
            rim = list(memories)[: limit - len(found)]
            seen.update(steps)
            reached = [(_found(memories[row], steps[row], distance), steps[row]) for row in rim]
            self.alike += [one for one in reached if one[1].kind == "semantic"]
            found += [record for record, _ in reached]
            if not rim:
                break
            # Further on, names lead only to what names the same as the memory that was asked about; and of a cause
            # only its causes are of interest, of an effect its effects.
            self.names = self.names or {steps[row].detail.casefold() for row in rim}
            self.led = {row: steps[row].src == steps[row].near for row in rim}
        return found

    def _admitted(self, rows: list[int]) -> list[int]:
        shown = self.catalogue.reader.filtered(rows, self.filters)
        here = self.catalogue.reader.filtered(rows, self.filters.scoped(self.scopes))
        self.elsewhere += len(shown) - len(here)
        return [row for row in rows if row in here]

    def _steps(self, rim: list[int], seen: set[int]) -> dict[int, EdgeRow]:
        """Return the most telling edge to each memory not seen yet: the heaviest, time last, causes first."""
        edges = [edge for edge in self.catalogue.reader.edges(rim) if edge.far not in seen and self._follows(edge)]
        steps: dict[int, EdgeRow] = {}
        for edge in sorted(edges, key=self._telling):
            steps.setdefault(edge.far, edge)
        return steps

    def _follows(self, edge: EdgeRow) -> bool:
        if self.kind == "entity" and self.names:
            return edge.kind == self.kind and edge.detail.casefold() in self.names
        if self.kind == "causal" and edge.near in self.led:
            return edge.kind == self.kind and self.led[edge.near] == (edge.src == edge.near)
        return self.kind in {None, edge.kind}

    def _telling(self, edge: EdgeRow) -> tuple[bool, bool, float, int]:
        return edge.kind == "temporal", self.kind == "causal" and edge.src == edge.near, -edge.weight, edge.far


def _found(memory: dict[str, Any], step: EdgeRow, distance: int) -> dict[str, Any]:
    direction: Direction = "to" if step.src == step.near else "from"
    edge = {
        "depth": distance, "kind": step.kind, "direction": direction, "weight": step.weight, "detail": step.detail,
        "says": _CAUSAL[direction] if step.kind == "causal" else "",
    }  # fmt: skip
    return edge | {name: memory[name] for name in _FIELDS}
