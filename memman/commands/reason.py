"""`memman reason`: how something came to be as it is, with what caused it, what it replaced, and who said so."""

from collections.abc import Iterator

import click

from memman.commands.memories import Records, veiled
from memman.commands.place import Place, reading, standing
from memman.commands.printing import ago, labelled, short, text
from memman.commands.verb import verb
from memman.hot.recall import LIMIT
from memman.hot.recall_session import found
from memman.model.errors import UsageError
from memman.model.vocabulary import HIDDEN
from memman.store.filters import Filters
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.index import MANUAL

# How far a chain is followed.
_DEEPEST = 6
ANSWER, BECAUSE, LED, REPLACED, MAYBE = "", "because of", "led to", "replaced", "maybe replaced by"


class _Chain:
    """What led to some memories: a line for each, below what it explains, and none twice."""

    def __init__(self, place: Place, catalogue: Catalogue) -> None:
        self.place, self.catalogue = place, catalogue
        self.lines: Records = []
        self.seen: set[int] = set()

    def follow(self, row: int, how: str, depth: int = 0, why: str = "") -> None:
        """Add a memory and, below it, what led to it; what came of it is told of an answer only."""
        record = self.catalogue.memories([row])[0]
        if row in self.seen or depth > _DEEPEST or record["status"] in HIDDEN:
            return
        self.seen.add(row)
        came = self.catalogue.receipt(record["note"]) or {}
        provenance = {name: came.get(name, "") for name in ("agent", "session", "revision")}
        told = veiled(self.place, self.catalogue.reader, record["uid"], record)
        why = why.removeprefix(f"{MANUAL}: ").removeprefix(MANUAL)
        self.lines.append({"depth": depth, "how": how, "why": why, "provenance": provenance} | told)
        for other, link, said in (*self._before(row), *(self._after(row) if how == ANSWER else ())):
            self.follow(other, link, depth + 1, said)

    def _before(self, row: int) -> Iterator[tuple[int, str, str]]:
        """Yield what caused a memory and what it replaced, with how and why."""
        for edge in self.catalogue.reader.edges([row]):
            if edge.kind == "causal" and edge.dst == row:
                yield edge.src, BECAUSE, edge.detail
        for old in self.catalogue.predecessors(row):
            if old["superseded_by"] == row:
                yield old["id"], REPLACED, self._why(old["uid"])

    def _after(self, row: int) -> Iterator[tuple[int, str, str]]:
        """Yield what a memory led to, and what maybe replaces it."""
        for edge in self.catalogue.reader.edges([row]):
            if edge.kind == "causal" and edge.src == row:
                yield edge.dst, LED, edge.detail
        for newer, _ in self.catalogue.reader.newer([row]).values():
            yield newer, MAYBE, ""

    def _why(self, uid: str) -> str:
        """Say why a memory was superseded."""
        lines = (one for one in self.catalogue.log(limit=50, memory=uid) if one["verb"] == "supersede")
        return next((str((one["after"] or {}).get("why", "")) for one in lines), "")


def _print(lines: Records) -> None:
    for one in lines:
        came = " ".join(filter(None, (one["provenance"]["agent"], one["provenance"]["session"])))
        how = f"{one['how']}: " if one["how"] else ""
        said = f"{'  ' * one['depth']}{how}{one['text']}"
        aside = [short(one["uid"]), ago(one["valid_from"]), labelled(one), came, one["why"]]
        text(f"{said}  ({', '.join(filter(None, aside))})")
    if not lines:
        text("memory knows nothing about that")


@verb(shows=_print)
@click.argument("question", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(1, LIMIT), default=1, show_default=True, help="Answers that are followed.")
def reason(place: Place, question: tuple[str, ...], *, limit: int = 1) -> Records:
    """Say why something is so: the answer, what led to it, what it replaced and why, and who said each.

    Example: memman reason "why is billing on Render". Causes are those that a model named, or you with `graph link`.
    """
    query = " ".join(question).strip()
    if not query:
        raise UsageError("say what is to be explained: a few words")
    filters = Filters(here=standing())
    hits = [hit for hit in found(place.data, place.name, query, filters, limit, None) if not hit.pending]
    with reading(place) as catalogue:
        chain = _Chain(place, catalogue)
        for hit in hits:
            chain.follow(hit.id, ANSWER)
        return chain.lines
