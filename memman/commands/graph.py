"""`memman graph`, and `reason`, which follows its causes: how something came to be as it is."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import click

from memman.clock import now_ms
from memman.commands.place import Opened, Place, Records, opened, refuse_held, standing, steadily, writing
from memman.commands.printing import Progress, ago, holds, labelled, short, table, text, unseen
from memman.commands.verb import Group, store_option, verb
from memman.config import stores
from memman.config.env import Settings
from memman.config.schedule import refuse_stopped
from memman.drain.stores import metered
from memman.hot.recall import LIMIT
from memman.hot.recall_session import found
from memman.locks import drain_lock
from memman.model.errors import UsageError
from memman.model.plural import counted
from memman.model.records import Edge
from memman.model.text import clean
from memman.model.vocabulary import EDGE_KINDS, HIDDEN, NEWER
from memman.pipeline.vectors import fingerprint
from memman.store import EdgeRow
from memman.store.filters import Filters
from memman.store.sqlite.index import MANUAL
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
    "semantic": "what is similar",
    NEWER: "newer memories that may change it",
}


def _said(one: dict[str, Any]) -> str:
    return one["text"] if one["status"] == "current" else f"({one['status']}) {one['text']}"


def _print_related(found: dict[str, Any]) -> None:
    asked = found["memory"]
    text(f"{short(asked['uid'])}  {labelled(asked)}  {_said(asked)}")
    rows = [
        (
            *(one[name] for name in ("depth", "direction", "kind", "says")),
            *(f"{one['weight']:.2f}", short(one["uid"]), labelled(one, holds(one)), _said(one)),
        )
        for one in found["related"]
    ]
    table(rows, heads=("steps", "", "kind", "says", "weight", "id", "source", "text"))
    if not rows:
        text("nothing is related")
    if found["elsewhere"]:
        text(f"{found['elsewhere']} more in other repositories: --all-scopes shows them")


@graph.verb(opened=True, shows=_print_related, counts=lambda found: len(found["related"]))
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
@click.option("--all-scopes", "everywhere", is_flag=True, help="Show what belongs to other repositories too, labelled.")
def related(
    store: Opened,
    part: str,
    *,
    kind: str | None = None,
    depth: int | None = None,
    limit: int = 50,
    everywhere: bool = False,
) -> dict[str, Any]:
    """Show related memories, closest and strongest first.

    A cause is marked "because", an effect "led to".
    """
    start, walk = store.row_of(part), _Walk(store, kind, "all" if everywhere else "here")
    reached = walk.reached(start, DEPTHS[kind] if depth is None else depth, limit)
    return {"memory": store.memories([start])[0], "related": reached, "elsewhere": walk.elsewhere}


def beside(store: Opened, row: int, limit: int) -> Records:
    """Return what is related to a memory here by one edge of any kind, the nearest and strongest first."""
    return _Walk(store, None, "here").reached(row, DEPTHS[None], limit)


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
    with opened(place) as seen:
        src, dst = map(seen.row_of, (a, b))
        memories = seen.memories([src, dst])
    uids = [memory["uid"] for memory in memories]
    for memory in memories:
        refuse_held(memory["uid"], memory["status"])
    if not 0 <= weight <= 1:
        raise UsageError("--weight takes a number from 0 to 1")
    if src == dst:
        raise UsageError("a memory cannot be linked to itself")
    detail = f"{MANUAL}: {clean(note)}" if note else MANUAL
    with writing(place) as store, store.unit() as unit:
        unit.link_by_hand(Edge(kind, src, dst, weight, detail), now_ms())
    return {"src": uids[0], "dst": uids[1], "kind": kind, "weight": weight, "detail": detail}


class _Walk:
    """Walking along the edges of a kind, or of all, through memories that hold in some scope."""

    def __init__(self, store: Opened, kind: str | None, scope: str) -> None:
        self.store, self.kind, self.scopes = store, kind, store.scopes_meant(scope)
        self.names: set[str] = set()
        self.led: dict[int, bool] = {}
        self.elsewhere = 0

    def reached(self, start: int, depth: int, limit: int) -> list[dict[str, Any]]:
        """Walk breadth first; each memory is named once, by the most telling edge of the round that found it."""
        seen, rim = {start}, [start]
        found: list[dict[str, Any]] = []
        for distance in range(1, depth + 1):
            steps = self._steps(rim, seen)
            memories = {memory["id"]: memory for memory in self.store.memories(self._admitted(list(steps)))}
            rim = list(memories)[: limit - len(found)]
            seen.update(steps)
            found += [_found(memories[row], steps[row]) | {"depth": distance} for row in rim]
            if not rim:
                break
            # Further on, names lead only to what names the same as the memory that was asked about; and of a cause
            # only its causes are of interest, of an effect its effects.
            self.names = self.names or {steps[row].detail.casefold() for row in rim}
            self.led = {row: steps[row].src == steps[row].near for row in rim}
        return found

    def _admitted(self, rows: list[int]) -> list[int]:
        shown = self.store.reader.filtered(rows, Filters(history=True))
        here = self.store.reader.filtered(rows, Filters(history=True, scopes=self.scopes))
        self.elsewhere += len(shown) - len(here)
        return [row for row in rows if row in here]

    def _steps(self, rim: list[int], seen: set[int]) -> dict[int, EdgeRow]:
        """Return the most telling edge to each memory not seen yet: the heaviest, time last, causes first."""
        edges = [edge for edge in self.store.reader.edges(rim) if edge.far not in seen and self._follows(edge)]
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


def _found(memory: dict[str, Any], step: EdgeRow) -> dict[str, Any]:
    direction: Direction = "to" if step.src == step.near else "from"
    says = _CAUSAL[direction] if step.kind == "causal" else ""
    edge = {"kind": step.kind, "direction": direction, "weight": step.weight, "detail": step.detail, "says": says}
    return edge | {name: memory[name] for name in _FIELDS}


def _print_rebuilt(done: dict[str, Any]) -> None:
    text(f"rebuilt the edges of {counted(done['relinked'], 'memory')} in store {done['store']!r}")


@graph.verb(
    shows=_print_rebuilt,
    bar=("relinking", "finished edges are kept; drains continue with the rest"),
)
def rebuild(place: Place, *, progress: Progress = unseen) -> dict[str, Any]:
    """Recompute all edges but causal and newer ones; those added by hand are kept."""
    refuse_stopped(place.data, "graph rebuild")
    stores.known(place.data, place.name)

    async def done() -> int:
        async with metered(place.data, Settings.load(place.data, place.name)) as stored:
            return relink(stored.store(place.name), fingerprint(stored.providers.judge()), progress)

    with drain_lock(place.data):
        return {"store": place.name, "relinked": asyncio.run(done())}


# How far a chain is followed.
_DEEPEST = 6
ANSWER, BECAUSE, LED, REPLACED, MAYBE = "", "because of", "led to", "replaced", "maybe replaced by"
_REPLACES, _NEWER, _OLDER = "maybe replaces", "newer than", "older than"


class _Chain:
    """What led to some memories: a line for each, below what it explains, and none twice.

    `rivals` are pairs of which the newer may say otherwise than the older: (older, newer).
    """

    def __init__(self, store: Opened, rivals: Sequence[tuple[int, int]]) -> None:
        self.store, self.rivals = store, rivals
        self.lines: Records = []
        self.seen: set[int] = set()

    def follow(self, row: int, how: str, depth: int = 0, why: str = "") -> None:
        """Add a memory and, below it, what led to it; what came of it is told of an answer only."""
        record = self.store.memories([row])[0]
        if row in self.seen or depth > _DEEPEST or record["status"] in HIDDEN or not self.store.within([row], "here"):
            return
        self.seen.add(row)
        came = self.store.receipt(record["note"]) or {}
        provenance = {name: came.get(name, "") for name in ("agent", "session", "revision")}
        why = why.removeprefix(f"{MANUAL}: ").removeprefix(MANUAL)
        line = {"depth": depth, "how": how, "why": why, "provenance": provenance}
        self.lines.append(line | record)
        for other, link, said in (*self._before(row), *(self._after(row) if how == ANSWER else ())):
            self.follow(other, link, depth + 1, said)

    def _before(self, row: int) -> Iterator[tuple[int, str, str]]:
        """Yield what caused a memory and what it replaced, with how and why."""
        for edge in self.store.reader.edges([row]):
            if edge.kind == "causal" and edge.dst == row:
                yield edge.src, BECAUSE, edge.detail
        for old in self.store.predecessors(row):
            if old["superseded_by"] == row:
                yield old["id"], REPLACED, self._why(old["uid"])

    def _after(self, row: int) -> Iterator[tuple[int, str, str]]:
        """Yield what a memory led to, and what competes with it: of two that hold the newer may change the older."""
        for edge in self.store.reader.edges([row]):
            if edge.kind == "causal" and edge.src == row:
                yield edge.dst, LED, edge.detail
        for newer, _ in self.store.reader.newer([row]).values():
            yield newer, MAYBE, ""
        yield from ((old, _REPLACES, "") for old, new in self.store.doubtful().items() if new == row)
        for old, new in self.rivals:
            if row in {old, new}:
                yield (old, _NEWER, "") if row == new else (new, _OLDER, "")

    def _why(self, uid: str) -> str:
        """Say why a memory was superseded."""
        lines = (one for one in self.store.log(limit=50, memory=uid) if one["verb"] == "supersede")
        return next((str((one["after"] or {}).get("why", "")) for one in lines), "")


def _print_chain(lines: Records) -> None:
    for one in lines:
        came = " ".join(filter(None, (one["provenance"]["agent"], one["provenance"]["session"])))
        how = f"{one['how']}: " if one["how"] else ""
        said = f"{'  ' * one['depth']}{how}{one['text']}"
        aside = [short(one["uid"]), ago(one["valid_from"]), labelled(one), came, one["why"]]
        text(f"{said}  ({', '.join(filter(None, aside))})")
    if not lines:
        text("memory knows nothing about that")


@verb(opened=True, shows=_print_chain)
@click.argument("question", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, LIMIT), default=1, show_default=True, help="Answers to explain.")
def reason(store: Opened, question: tuple[str, ...], *, limit: int = 1) -> Records:
    """Explain why something is so: the answer, its causes, what it replaced, and who said it.

    Example: memman reason "why is billing on Render". Causes are named by a model, or by you with `graph link`.
    """
    query = " ".join(question).strip()
    if not query:
        raise UsageError("there is no question: give a few words")
    filters = Filters(here=standing())
    hits = [hit for hit in found(store.data, store.name, query, filters, LIMIT, None) if not hit.pending]
    rivals = [(hit.via[1], hit.id) for hit in hits if hit.via and hit.via[0] == NEWER]
    chain = _Chain(store, rivals)
    for hit in hits[:limit]:
        chain.follow(hit.id, ANSWER)
    return chain.lines
