"""What was learned and changed since a moment, and the sessions that gave memories and were shown some."""

from itertools import groupby
from typing import Any

from memman.govern.held import veiled
from memman.govern.stores import Chosen, answering, reading
from memman.store.sqlite import recent, sessions, undone
from memman.store.sqlite.catalogue import Catalogue


@answering
def listed(place: Chosen, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the latest `limit` sessions, or all, the latest first."""
    with reading(place) as catalogue:
        return sessions.listed(catalogue.reader.db)[:limit]


@answering
def session(place: Chosen, part: str) -> dict[str, Any]:
    """Return the session whose id begins with `part`, with its memories. Raises UnknownId and AmbiguousId."""
    known = {one["session"]: one for one in listed(place)}
    one = known[undone.one_of(known, part, "session")]
    with reading(place) as catalogue:
        db = catalogue.reader.db
        made = _memories(place, catalogue, sessions.made(db, one["session"]))
        return one | {"made": made, "shown": _memories(place, catalogue, sessions.shown(db, one["session"]))}


def _memories(place: Chosen, catalogue: Catalogue, ids: list[int]) -> list[dict[str, Any]]:
    return [veiled(place, catalogue.reader, record["uid"], record) for record in catalogue.memories(ids)]


@answering
def learned(place: Chosen, since: int, limit: int) -> list[dict[str, Any]]:
    """Return day, scope, count and memories of each group, the newest day first, `limit` memories in all."""
    with reading(place) as catalogue:
        days = recent.came(catalogue.reader.db, since)
        records = [veiled(place, catalogue.reader, record["uid"], record) for record in catalogue.memories([*days])]
    records.sort(key=lambda record: record["scope"])
    records.sort(key=lambda record: days[record["id"]], reverse=True)
    groups, left = [], limit
    for (day, scope), these in groupby(records, key=lambda record: (days[record["id"]], record["scope"])):
        memories = [*these]
        groups.append({"day": day, "scope": scope, "count": len(memories), "memories": memories[:left]})
        left -= len(groups[-1]["memories"])
    return groups


# Verbs of the log that bring a memory in, held back or not.
_NEW = {"add", "hold"}
_GONE = {"superseded", "forgotten"}


@answering
def diff(place: Chosen, since: int, limit: int) -> list[dict[str, Any]]:
    """Return the newest `limit` changes by scope, with + - or ~, but for what came and went since then."""
    with reading(place) as catalogue:
        verbs = recent.changed(catalogue.reader.db, since)
        changes = [
            {"sign": sign, "verbs": [*verbs[record["id"]]]} | veiled(place, catalogue.reader, record["uid"], record)
            for record in catalogue.memories([*verbs])
            if (sign := _sign(verbs[record["id"]], record))
        ]
    return sorted(changes[-limit:], key=lambda change: (change["scope"], "+-~".index(change["sign"])))


def _sign(verbs: tuple[str, ...], record: dict[str, Any]) -> str:
    new, gone = not _NEW.isdisjoint(verbs), record["status"] in _GONE
    return "" if new and gone else "+" if new else "-" if gone else "~"
