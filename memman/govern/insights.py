"""Looking at memories: lists, and everything known about one."""

from collections.abc import Sequence
from typing import Any

from memman.belief import reliability, sessions
from memman.commands.memories import Named, all_named, veiled
from memman.commands.place import Place, looking, reading
from memman.queue.view import QueueView
from memman.store.sqlite import doubts, keeping
from memman.store.sqlite.catalogue import ARCHIVED, Catalogue
from memman.store.sqlite.doubts import why

STATUSES = ("current", "superseded", "forgotten", ARCHIVED, "all")


def listed(
    place: Place, *, category: str | None = None, source: str | None = None, status: str = "current", limit: int = 20
) -> list[dict[str, Any]]:
    """Return memories, newest first."""
    with reading(place) as catalogue:
        records = catalogue.listed(category=category, source=source, status=status, limit=limit)
        return [veiled(place, catalogue.reader, record["uid"], record | _why(catalogue, record)) for record in records]


def shown(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Return all that is known of each memory, or of each note that waits, that an id names."""
    with looking(place) as (catalogue, queue):
        records = []
        for one in all_named(parts, catalogue, queue, place.name):
            records += _described(place, one, catalogue, queue)
        return records


def _described(place: Place, one: Named, catalogue: Catalogue, queue: QueueView) -> list[dict[str, Any]]:
    if one.note:
        return [{"kind": "note"} | queue.show(one.note)]
    return [_memory(place, record, catalogue) for record in catalogue.memories(one.memories)]


def _memory(place: Place, record: dict[str, Any], catalogue: Catalogue) -> dict[str, Any]:
    row = record["id"]
    after = catalogue.successors(row)
    behind = catalogue.behind()
    newer = {old: new for old, new in catalogue.doubtful().items() if old not in behind}
    pairs = {*newer, *newer.values(), *behind, *behind.values()}
    others = {other["id"]: other for other in catalogue.memories(sorted(pairs))}
    uids = {row: other["uid"] for row, other in others.items()}
    before = others.get(behind.get(row, 0), {})
    extra: dict[str, Any] = {
        "superseded_by": after[0]["uid"] if after else None,
        "maybe_replaced_by": uids.get(newer.get(row, 0)),
        "maybe_replaces": [uids[old] for old, new in newer.items() if new == row],
        "stands_behind": before.get("uid"),
        "until": before.get("ends_at"),
        "stands_before": [uids[old] for old, new in behind.items() if new == row],
        "against": [uid for _, uid, _ in catalogue.reader.contradicts([row]).get(row, ())],
        "contradicted_by": _contradicted_by(catalogue, row),
        "protected": catalogue.reader.protected_since(row),
        "edges": catalogue.edge_counts(row),
        "verified_at": keeping.verified(catalogue.reader, row),
        "files": {file.path: file.changed_at for file in keeping.files_of(catalogue.reader, row)},
        "evidence": (evidence := catalogue.reader.evidence([row]).get(row, [])),
        "reliability": reliability(*sessions(evidence)) if evidence else None,
        "provenance": catalogue.receipt(record["note"]),
        **_authorship(catalogue, row),
    }
    return {"kind": "memory"} | veiled(place, catalogue.reader, record["uid"], record | _why(catalogue, record)) | extra


def _contradicted_by(catalogue: Catalogue, row: int) -> list[str]:
    said = doubts.claimed(catalogue.reader.db)
    return [one["uid"] for one in catalogue.memories([new for old, new, _ in said if old == row])]


def _authorship(catalogue: Catalogue, row: int) -> dict[str, str]:
    """Say who wrote a memory, for whom, and who retired it, '' where the store is shared with nobody."""
    known = catalogue.reader.authorship([row]).get(row)
    names = ("author", "visibility", "retired_by")
    return dict(zip(names, known[1:], strict=True)) if known else dict.fromkeys(names, "")


def _why(catalogue: Catalogue, record: dict[str, Any]) -> dict[str, str]:
    """Say why a memory is held back, where it is."""
    if record["status"] != "review":
        return {}
    from memman.govern.review import reason

    return {"why": why(catalogue.reader, record["uid"]) or reason(record["text"])}
