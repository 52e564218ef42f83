"""What happened when: memories in the order they came to hold, around one of them or up to a moment."""

from typing import Any

from memman.commands.memories import one_memory
from memman.commands.place import Place, looking, reading
from memman.model.errors import UsageError
from memman.model.vocabulary import HIDDEN
from memman.store.sqlite.catalogue import Catalogue

_FIELDS = (
    "uid",
    "text",
    "summary",
    "category",
    "source",
    "unconfirmed",
    "origin",
    "status",
    "scope",
    "valid_from",
    "valid_to",
    "ends_at",
    "file_changed_at",
)
# How an origin begins that is a place, not a session.
_PLACE = "@"


def latest(
    place: Place, *, limit: int = 20, since: int | None = None, until: int | None = None
) -> list[dict[str, Any]]:
    """Return the newest memories that came to hold from `since` on and before `until`, the newest last."""
    with reading(place) as catalogue:
        rows = [row for at, row in catalogue.latest(until, limit) if _within(at, since, until)]
        return _described(catalogue, rows)


def around(
    place: Place, part: str, *, before: int = 10, after: int = 10, since: int | None = None, until: int | None = None
) -> list[dict[str, Any]]:
    """Return a memory amid those that came to hold just before and after it. Raises UsageError for a hidden one."""
    with looking(place) as (catalogue, queue):
        asked = one_memory(part, catalogue, queue, place.name)
        found = catalogue.around(asked, before, after)
        rows = [row for at, row in found if row == asked or _within(at, since, until)]
        if asked not in rows:
            raise UsageError(_hidden(part, catalogue.memories([asked])[0]["status"]))
        return _described(catalogue, rows, asked)


def _hidden(part: str, status: str) -> str:
    """Say why a memory has no place in time."""
    if status == "review":
        return f"{part} is held back for review: approve it first with `memman review approve`"
    return f"{part} is forgotten: `memman forget --undo {part}` brings it back"


def _within(at: int, since: int | None, until: int | None) -> bool:
    return (since is None or at >= since) and (until is None or at < until)


def _described(catalogue: Catalogue, rows: list[int], asked: int | None = None) -> list[dict[str, Any]]:
    """Describe memories: what took the place of each, what it came of and led to, and whether it is one asked about."""
    memories = catalogue.memories(rows)
    links = _causal(catalogue, rows)
    others = {memory["superseded_by"] for memory in memories if memory["superseded_by"]} | {far for *_, far in links}
    uids = {other["id"]: other["uid"] for other in catalogue.memories(sorted(others)) if other["status"] not in HIDDEN}
    session = next((memory["origin"] for memory in memories if memory["id"] == asked), _PLACE)
    return [
        {name: memory[name] for name in _FIELDS}
        | {"asked": memory["id"] == asked}
        | {"same_session": memory["origin"] == session and not session.startswith(_PLACE)}
        | {"superseded_by": uids.get(memory["superseded_by"])}
        | {
            name: [uids[far] for row, link, far in links if (row, link) == (memory["id"], name) and far in uids]
            for name in ("because_of", "led_to")
        }
        for memory in memories
    ]


def _causal(catalogue: Catalogue, rows: list[int]) -> list[tuple[int, str, int]]:
    """Return (row, how it is linked, to which row) of the causal edges at `rows`."""
    return [
        (edge.near, "led_to" if edge.src == edge.near else "because_of", edge.far)
        for edge in catalogue.reader.edges(rows)
        if edge.kind == "causal"
    ]
