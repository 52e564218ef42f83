"""The sessions that gave memories and were shown some."""

from typing import Any

from memman.govern.held import veiled
from memman.govern.stores import Chosen, answering, reading
from memman.model.errors import AmbiguousId, UnknownId
from memman.store.sqlite import sessions
from memman.store.sqlite.catalogue import Catalogue


@answering
def listed(place: Chosen, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the latest `limit` sessions, or all, the latest first."""
    with reading(place) as catalogue:
        return sessions.listed(catalogue.reader.db)[:limit]


@answering
def session(place: Chosen, part: str) -> dict[str, Any]:
    """Return the session whose id begins with `part`, with its memories. Raises UnknownId and AmbiguousId."""
    one = _named(part, listed(place))
    with reading(place) as catalogue:
        db = catalogue.reader.db
        made = _memories(place, catalogue, sessions.made(db, one["session"]))
        return one | {"made": made, "shown": _memories(place, catalogue, sessions.shown(db, one["session"]))}


def _named(part: str, known: list[dict[str, Any]]) -> dict[str, Any]:
    found = [one for one in known if one["session"].startswith(part)]
    exact = [one for one in found if one["session"] == part]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise UnknownId("no session of this store has an id that begins so: `memman sessions` lists them")
    raise AmbiguousId(f"{len(found)} sessions have ids that begin so, give more characters")


def _memories(place: Chosen, catalogue: Catalogue, ids: list[int]) -> list[dict[str, Any]]:
    return [veiled(place, catalogue.reader, record["uid"], record) for record in catalogue.memories(ids)]
