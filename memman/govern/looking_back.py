"""Where a memory comes from and what became of it, and what memory costs."""

import json
import time
from collections.abc import Collection, Sequence
from contextlib import closing
from typing import Any

from memman.commands import graph
from memman.commands.memories import one_memory, veiled
from memman.commands.place import Place, looking, reading
from memman.config.scope import label
from memman.govern import insights, log
from memman.model.errors import UnknownId
from memman.queue.ledger import Ledger
from memman.queue.view import QueueView
from memman.store.sqlite import lineage, shown, typed

# Lines of a memory's log that are told.
_CHANGES = 200
# Log lines that change neither what a memory says nor how it stands.
_QUIET = {"confirm", "feedback", "link"}


def why(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Return all that is known of each memory, its causes and effects, the changes to it, and where it was shown."""
    records = insights.shown(place, parts)
    if any(record["kind"] == "note" for record in records):
        raise UnknownId("a note that still waits has no memory yet: try again after the next drain")
    with looking(place) as (catalogue, queue):
        return [
            record
            | {
                "before": catalogue.predecessors(record["id"]),
                "causes": graph.related(place, record["uid"], kind="causal", depth=1)["related"],
                "said": "" if place.agent else _said(queue, record["note"]),
                "typed": "" if place.agent else typed.behind(catalogue.reader.db, record["id"]),
                "models": json.loads((record["provenance"] or {}).get("models") or "{}"),
                "evidence": _evidence(catalogue.reader.db, record["id"]),
                "shown": shown.of(catalogue.reader.db, record["id"]),
                "changes": _changes(place, record),
            }
            for record in records
        ]


def history(place: Place, part: str) -> list[dict[str, Any]]:
    """Return the versions of a memory, oldest first, each with its changes; the memory itself is `asked`."""
    with looking(place) as (catalogue, queue):
        asked = one_memory(part, catalogue, queue, place.name)
        versions = catalogue.memories(lineage.lineage(catalogue.reader.db, asked))
        return [
            veiled(place, catalogue.reader, one["uid"], one)
            | {"asked": one["id"] == asked, "changes": _changes(place, one, _QUIET)}
            for one in versions
        ]


def cost(place: Place, since: int) -> dict[str, Any]:
    """Return what was spent since a moment's day, and what was shown of this store since then."""
    with closing(QueueView(place.data)) as queue:
        spent = Ledger(queue.db).spent_since(time.strftime("%Y-%m-%d", time.gmtime(since / 1000)))
    with reading(place) as catalogue:
        told = shown.costs(catalogue.reader.db, since)
    named = [entry | {"repository": label(entry["repository"], "") or entry["repository"]} for entry in spent]
    return {"spent": named, "shown": told}


def _changes(place: Place, record: dict[str, Any], quiet: Collection[str] = ()) -> list[dict[str, Any]]:
    """Return the lines of the log about a memory but for `quiet` verbs, oldest first."""
    lines = reversed(log.lines(place, limit=_CHANGES, memory=record["uid"]))
    return [one for one in lines if one["verb"] not in quiet]


def _said(queue: QueueView, note: str) -> str:
    """Return what a note said, '' where the queue keeps it no more."""
    try:
        return str(queue.show(queue.find(note))["text"])
    except UnknownId:
        return ""


def _evidence(db: Any, memory: int) -> list[dict[str, Any]]:
    rows = db.execute("SELECT kind, session, at FROM evidence WHERE memory = ? ORDER BY at", (memory,))
    return [dict(zip(("kind", "session", "at"), row, strict=True)) for row in rows]
