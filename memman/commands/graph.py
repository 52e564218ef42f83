"""`memman graph`: related, about, link, rebuild."""

import asyncio
from typing import Any, Literal

import click

from memman.clock import now_ms
from memman.commands.memories import one_memory, veiled
from memman.commands.place import Place, looking, reading, standing, steadily, writing
from memman.commands.printing import Progress, ago, holds, labelled, short, table, text
from memman.commands.verb import Group, store_option
from memman.config import stores
from memman.config.env import Settings
from memman.config.schedule import refuse_stopped
from memman.drain.stores import metered
from memman.locks import drain_lock
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.records import Edge
from memman.model.terms import name as compared
from memman.model.text import SHORT_ID, clean
from memman.model.vocabulary import EDGE_KINDS, NEWER
from memman.store import EdgeRow
from memman.store.filters import Filters
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.index import MANUAL
from memman.upkeep.backfill import learn, resolved
from memman.upkeep.relink import relink


@click.group(cls=Group)
@store_option
def graph() -> None:
    """Show the edges between memories, add one, or rebuild them."""


Direction = Literal["to", "from"]
_FIELDS = ("uid", "text", "category", "source", "unconfirmed", "scope", "status", "ends_at", "file_changed_at")


# What an edge of each kind answers is a chain of them, or one step: what happened around a memory, all that names the
# same things, why it is so, and what is alike.
DEPTHS = {"temporal": 2, "entity": 2, "causal": 5, "semantic": 1, NEWER: 1, None: 1}
# What a memory is to the one that an edge leads to it from.
_CAUSAL: dict[Direction, str] = {"from": "because", "to": "led to"}


_ANSWERS = {
    "temporal": "what happened around it",
    "entity": "what names the same things",
    "causal": "why it is so, and what it led to",
    "semantic": "what is alike",
    NEWER: "what newer memory may say otherwise",
}
_all_scopes = click.option(
    "--all-scopes", "everywhere", is_flag=True, help="Show what belongs to other repositories too, labelled."
)


def _said(one: dict[str, Any]) -> str:
    return one["text"] if one["status"] == "current" else f"({one['status']}) {one['text']}"


def _print_related(found: dict[str, Any]) -> None:
    asked = found["memory"]
    text(f"{short(asked['uid'])}  {labelled(asked)}  {_said(asked)}")
    rows = [
        (one["depth"], one["direction"], one["kind"], one["says"], f"{one['weight']:.2f}", *_row(one))
        for one in found["related"]
    ]
    table(rows, heads=("steps", "", "kind", "says", "weight", "id", "source", "text"))
    if not rows:
        text("nothing is related")
    if found["elsewhere"]:
        text(f"{found['elsewhere']} more in other repositories: --all-scopes shows them")


def _row(one: dict[str, Any]) -> tuple[str, str, str]:
    return short(one["uid"]), labelled(one, holds(one)), _said(one)


@graph.verb(shows=_print_related, counts=lambda found: len(found["related"]))
@click.argument("part", metavar="ID")
@click.option(
    "--edge",
    "kind",
    type=click.Choice(EDGE_KINDS),
    help="Follow only edges of this kind; " + "; ".join(f"{kind}: {said}" for kind, said in _ANSWERS.items()) + ".",
)
@click.option(
    "--depth",
    type=click.IntRange(1, 5),
    help="Maximum distance in edges  [default: 1; with --edge temporal or entity 2, causal 5]",
)
@_all_scopes
def related(
    place: Place,
    part: str,
    *,
    kind: str | None = None,
    depth: int | None = None,
    limit: int = 50,
    everywhere: bool = False,
) -> dict[str, Any]:
    """Show related memories: nearest and strongest first, those related only in time last.

    A cause is marked "because", an effect "led to".
    """
    with looking(place) as (catalogue, queue):
        start = one_memory(part, catalogue, queue, place.name)
        walk = _Walk(catalogue, kind, Filters(history=True), None if everywhere else _here(catalogue))
        reached = walk.reached(start, DEPTHS[kind] if depth is None else depth, limit)
        asked = catalogue.memories([start])[0]
        return {
            "memory": veiled(place, catalogue.reader, asked["uid"], asked),
            "related": reached,
            "elsewhere": walk.elsewhere,
        }


def _print_about(found: dict[str, Any]) -> None:
    rows = [(short(one["uid"]), ago(one["valid_from"]), *_row(one)[1:]) for one in found["memories"]]
    table(rows, heads=("id", "age", "source", "text"))


@graph.verb(shows=_print_about, counts=lambda found: len(found["memories"]), none="no memory mentions it")
@click.argument("name")
@click.option("--history", is_flag=True, help="Show superseded memories too.")
def about(place: Place, name: str, *, limit: int = 50, history: bool = False) -> dict[str, Any]:
    """Show everything that mentions a name, newest first: a service, a host, a file, a ticket, a person.

    As `list --about` does: from all repositories, each memory with where it holds.
    """
    if not compared(name):
        raise UsageError("there is no name to look for: give one, as it is written")
    with reading(place) as catalogue:
        rows = catalogue.about((name,), Filters(history=history), limit)
        found = [{field: one[field] for field in (*_FIELDS, "valid_from")} for one in catalogue.memories(rows)]
        return {"name": name, "memories": found}


def _print_link(made: dict[str, Any]) -> None:
    ends = f"{short(made['src'])} to {short(made['dst'])}"
    text(f"linked {ends}: {made['kind']}, weight {made['weight']:g}, {made['detail']}")


@graph.verb(shows=_print_link)
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--type", "kind", type=click.Choice(EDGE_KINDS), default="semantic", show_default=True, help="Its kind.")
@click.option("--weight", type=float, default=1.0, show_default=True, help="Strength of the edge.")
@click.option("--note", default="", help="Why the two are related.")
@steadily
def link(place: Place, a: str, b: str, *, kind: str, weight: float, note: str) -> dict[str, Any]:
    """Add an edge from A to B that no rebuild changes or removes.

    A causal edge means that A led to B, a newer one that A may change B.
    """
    refuse_stopped(place.data, "graph link")
    with looking(place) as (catalogue, queue):
        src, dst = (one_memory(part, catalogue, queue, place.name) for part in (a, b))
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

    def reached(self, start: int, depth: int, limit: int) -> list[dict[str, Any]]:
        """Walk breadth first; each memory is named once, by the most telling edge of the round that found it."""
        seen, rim = {start}, [start]
        found: list[dict[str, Any]] = []
        for distance in range(1, depth + 1):
            steps = self._steps(rim, seen)
            memories = {memory["id"]: memory for memory in self.catalogue.memories(self._admitted(list(steps)))}
            rim = list(memories)[: limit - len(found)]
            seen.update(steps)
            found += [_found(memories[row], steps[row], distance) for row in rim]
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


def rebuild(data: str, store: str, progress: Progress) -> int:
    """Rebuild the edges that rules make and the text index of `store`; return how many memories were done.

    Raises Busy while a drain is at work, and UnknownStore.
    """
    refuse_stopped(data, "graph rebuild")
    stores.known(data, store)

    async def done() -> int:
        async with metered(data, Settings.load(data, store)) as opened:
            found, embedder = opened.store(store), opened.providers.embedder()
            made = resolved(found.db, embedder.fingerprint)
            learn(found, made, embedder)
            return relink(found, made, opened.providers.local(), progress)

    with drain_lock(data):
        return asyncio.run(done())


def _print_rebuilt(done: dict[str, Any]) -> None:
    text(f"rebuilt the edges of {counted(done['relinked'], 'memory')} in store {done['store']!r}")


@graph.verb(
    "rebuild",
    shows=_print_rebuilt,
    bar=("relinking", "what is done stays; drains go on with the edges of the rest"),
)
def rebuild_verb(place: Place, *, progress: Progress) -> dict[str, Any]:
    """Recompute all edges but causal and newer ones; those added by hand are kept."""
    return {"store": place.name, "relinked": rebuild(place.data, place.name, progress)}
