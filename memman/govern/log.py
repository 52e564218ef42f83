"""The log of one store: what was done to which memory, and what it was before."""

from collections import Counter
from typing import Any

from memman.commands.memories import one_memory, veiled
from memman.commands.place import Place, looking, reading
from memman.store.sqlite.catalogue import Catalogue
from memman.store.sqlite.rules import VERB as RULE

WHO = ("agent", "session")


def lines(
    place: Place, *, limit: int = 20, since: int | None = None, memory: str | None = None
) -> list[dict[str, Any]]:
    """Return the newest lines, newest first; `memory` is an id, `since` Unix milliseconds."""
    uid = None if memory is None else _uid(place, memory)
    with reading(place) as catalogue:
        records = catalogue.log(limit=limit, since=since, memory=uid)
        told = [_veiled(place, record | _by_whom(record, catalogue), catalogue) for record in records]
        return [record | _standing(record, catalogue) for record in told]


def stats(place: Place, *, since: int | None = None) -> dict[str, Any]:
    """Count what was done, by verb and by day (local time), newest day first."""
    with reading(place) as catalogue:
        days = catalogue.log_days(since=since)
    verbs: Counter[str] = Counter()
    for counts in days.values():
        verbs.update(counts)
    return {"verbs": dict(verbs.most_common()), "days": days}


def _by_whom(record: dict[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Return the agent and session of a change, out of its later side or its note; '' for a person in a shell."""
    after = {name: said for name, said in (record["after"] or {}).items() if name not in WHO}
    ran = {name: record["after"][name] for name in WHO if name in (record["after"] or {})}
    came = ran or (catalogue.receipt(record["note"]) if record["note"] else None) or {}
    return {name: came.get(name, "") for name in WHO} | {"after": after or None}


def _veiled(place: Place, record: dict[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Tell of both sides of a change what may be told."""
    sides = {side: record[side] for side in ("before", "after") if record[side]}
    return record | {name: veiled(place, catalogue.reader, record["memory"], side) for name, side in sides.items()}


def _uid(place: Place, part: str) -> str:
    with looking(place) as (catalogue, queue):
        row = one_memory(part, catalogue, queue, place.name)
        return str(catalogue.memories([row])[0]["uid"])


def _standing(record: dict[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    """Return whose word a memory is, '' for one that is purged, where it holds and what may make it doubtful.

    A rule is a person's.
    """
    if record["verb"].startswith(RULE):
        return {"source": "user"}
    for memory in catalogue.memories([*catalogue.reader.located([record["memory"]])][:1]):
        return {name: memory[name] for name in ("source", "scope", "ends_at", "file_changed_at")}
    return {"source": ""}
