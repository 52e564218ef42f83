"""What a memory was before and became afterwards: each version, and what changed it, when, by whom and why."""

from typing import Any

from memman.govern import log
from memman.govern.held import veiled
from memman.govern.ids import one_memory
from memman.govern.stores import Chosen, answering, looking
from memman.store.sqlite import lineage
from memman.store.sqlite.catalogue import Catalogue

# Lines of a memory's log that are told.
_LINES = 200
# Log lines that change neither what a memory says nor how it stands.
_QUIET = {"confirm", "feedback", "link"}


@answering
def history(place: Chosen, part: str) -> list[dict[str, Any]]:
    """Return the versions of a memory, oldest first, each with its changes; the memory itself is `asked`."""
    with looking(place) as (catalogue, queue):
        asked = one_memory(part, catalogue, queue, place.name)
        versions = catalogue.memories(lineage.lineage(catalogue.reader.db, asked))
        return [
            veiled(place, catalogue.reader, one["uid"], one)
            | {"asked": one["id"] == asked, "changes": _changes(place, catalogue, one)}
            for one in versions
        ]


def _changes(place: Chosen, catalogue: Catalogue, memory: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what was done to a memory, oldest first, as the log has it."""
    lines = reversed(log.lines(place, limit=_LINES, memory=memory["uid"]))
    told = [line for line in lines if line["verb"] not in _QUIET]
    undone = [one | dict.fromkeys(log.WHO, "") for one in lineage.undos(catalogue.reader.db, memory["id"])]
    return sorted([*told, *undone], key=lambda one: one["at"])
