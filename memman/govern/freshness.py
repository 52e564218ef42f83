"""Until when memories hold: another end, the word of a person that one is still true, and what may be out of date."""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memman.belief import AGAINST
from memman.clock import now_ms
from memman.commands.memories import changed, veiled
from memman.commands.place import Place, reading
from memman.config.env import Settings, stale_ages
from memman.config.repository import repository
from memman.model.text import age, outdated
from memman.model.worth import DAY_MS
from memman.pipeline.freshness import blobs
from memman.store.sqlite import keeping
from memman.store.sqlite.reader import SqliteReader
from memman.store.sqlite.store import SqliteStore
from memman.store.sqlite.unit import SqliteUnit


def protect(place: Place, parts: Sequence[str], *, wanted: bool = True) -> list[dict[str, Any]]:
    """Protect the memories that the ids name, or with `wanted` false no longer; return a record for each."""
    return changed(
        place, parts, "insights protect", lambda _, unit, memory, now: unit.protect(memory, now, wanted=wanted)
    )


def expire(place: Place, parts: Sequence[str], ends_at: int | None) -> list[dict[str, Any]]:
    """Give memories another end, None for none; return a record for each."""
    return changed(place, parts, "insights expire", lambda _, unit, memory, now: unit.expire(memory, ends_at, now))


def verify(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Record that memories were found still true, with their files as they are; return a record for each."""
    return changed(place, parts, "insights verify", _verified)


def feedback(place: Place, part: str, kind: str, session: str) -> list[dict[str, Any]]:
    """Keep what a session reported of memories, once; return a record for each."""
    return changed(
        place, [part], "insights feedback", lambda _, unit, memory, now: unit.report(memory, kind, session, now)
    )


def _verified(store: SqliteStore, unit: SqliteUnit, memory: int, now: int) -> bool:
    named = keeping.files_of(store.reader, memory)
    cwd = named[0].cwd if named else ""
    root = repository(cwd) if cwd and os.path.isdir(cwd) else None
    unit.verify(memory, blobs(root.root, (row.path for row in named)) if root else {}, "", now)
    return True


def stale(place: Place, *, limit: int = 20) -> list[dict[str, Any]]:
    """Return current memories that may be out of date, each with `why`: the one that may be so for longest first."""
    ages, now = ages_of(place), now_ms()
    with reading(place) as catalogue:
        reader = catalogue.reader
        found = doubts(reader, ages, now)
        first = sorted((min(why), row) for row, why in found.items())[:limit]
        memories = catalogue.memories([row for _, row in first])
        told = (record | {"why": list(found[record["id"]].values())} for record in memories)
        return [veiled(place, reader, record["uid"], record) for record in told]


def ages_of(place: Place) -> dict[str, str]:
    """Return after how many days a memory of a category is old."""
    return stale_ages(Settings.load(place.data))


def doubts(reader: SqliteReader, ages: Mapping[str, str], now: int) -> dict[int, dict[int, str]]:
    """Return since when, and why, each current memory may be out of date that may be."""
    rows = keeping.standings(reader)
    evidence = reader.evidence(row.id for row in rows)
    changes = reader.changed_files((row.id for row in rows), now)
    found = {row.id: dict(_reasons(row, evidence.get(row.id, ()), changes.get(row.id), ages, now)) for row in rows}
    return {row: why for row, why in found.items() if why}


def _reasons(
    row: keeping.Standing,
    evidence: Sequence[tuple[str, str, int]],
    changed_at: int | None,
    ages: Mapping[str, str],
    now: int,
) -> Iterator[tuple[int, str]]:
    """Yield since when a memory may be out of date, and why."""
    borne_out = keeping.last_borne_out(row, evidence)
    reported = [at for kind, _, at in evidence if kind in AGAINST and at > borne_out]
    old = borne_out + int(ages[row.category]) * DAY_MS if row.category in ages else now + 1
    yield from ((at, label) for label, at in outdated(row.ends_at, changed_at, now).items())
    if reported:
        yield reported[0], "reported wrong or stale"
    if old <= now:
        yield old, f"{age(borne_out, now)} old, and nothing has borne it out since"
