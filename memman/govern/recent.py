"""What was learned and changed since a moment, and the sessions that gave memories and were shown some."""

from itertools import groupby
from typing import Any

from memman.commands.memories import veiled
from memman.commands.place import Place, reading, standing
from memman.model.errors import UnknownId
from memman.store.sqlite import recent, sessions, undo
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.standing import last_session

# What names the last session that left something where one stands, but for one's own.
LAST = "last"


def listed(place: Place, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the latest `limit` sessions, or all, the latest first."""
    with reading(place) as catalogue:
        return sessions.listed(catalogue.reader.db)[:limit]


def session(place: Place, part: str) -> dict[str, Any]:
    """Return the session whose id begins with `part`, or the LAST, with the memories that it made and was shown.

    Each of those that it made says what it replaced. Raises UnknownId and AmbiguousId.
    """
    known = {one["session"]: one for one in listed(place)}
    with reading(place) as catalogue:
        db = catalogue.reader.db
        if part == LAST:
            if not (last := last_session(db, standing(), place.session, newest=catalogue.reader.last())):
                raise UnknownId("no session has left anything here yet")
            part = last[1]
        one = known[undo.one_of(known, part, "session")]
        made, shown = (find(db, one["session"]) for find in (sessions.made, sessions.shown))
        before = catalogue.reader.before(made)
        left = [record | {"replaced": before.get(record["id"])} for record in _memories(place, catalogue, made)]
        return one | {"made": left, "shown": _memories(place, catalogue, shown)}


def _memories(place: Place, catalogue: Catalogue, ids: list[int]) -> list[dict[str, Any]]:
    return [veiled(place, catalogue.reader, record["uid"], record) for record in catalogue.memories(ids)]


def learned(place: Place, since: int, limit: int) -> list[dict[str, Any]]:
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


def diff(place: Place, since: int, limit: int) -> list[dict[str, Any]]:
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
