"""Taking back notes, sessions, drains, or all since a time; and taking that back again."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.config.schedule import refuse_stopped
from memman.govern import naming
from memman.govern.stores import Chosen, expected, reading, writing
from memman.govern.undo_selection import Asked, Selected, selected
from memman.locks import quiet, steady
from memman.model.records import Note, Provenance
from memman.model.reliability import FEEDBACK
from memman.model.vocabulary import HIDDEN
from memman.pipeline import context
from memman.providers import builtin_embedder
from memman.queue.entry import new_uid
from memman.queue.notes import Queue
from memman.queue.view import QueueView
from memman.store.sqlite import rescoped, undone
from memman.store.sqlite.catalogue import freshness
from memman.upkeep.rules import publish

if TYPE_CHECKING:
    from memman.store.sqlite.reader import SqliteReader
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.undo import Work
    from memman.store.sqlite.unit import SqliteUnit

OUTCOME = "undone"
# What became of a memory, by its status afterwards; one that was hidden before is restored.
_BECAME = {"current": "current again", "superseded": "superseded again", "forgotten": "undone"}


class _Seen(Exception):
    """Somebody only looked: the transaction is rolled back."""


def preview(place: Chosen, asked: Asked) -> dict[str, Any]:
    """Return what an undo would do, without doing it. Raises UnknownId, AmbiguousId and UsageError."""
    report: dict[str, Any] = {}
    with ExitStack() as held:
        queue = held.enter_context(closing(QueueView(place.data)))
        store = held.enter_context(writing(expected(place)))
        chosen = selected(place, asked, store, queue)
        with suppress(_Seen), store.unit() as unit:
            work, statuses, moves = _changed(unit, chosen)
            report = _report(place.data, store, chosen, work, statuses, moves)
            raise _Seen
    return report


def undo(place: Chosen, asked: Asked) -> dict[str, Any]:
    """Take back what is asked for; return what was done, under an id of its own that undoes it."""
    refuse_stopped(place.data, "undo")
    now = now_ms()
    uid = new_uid(now)
    with ExitStack() as held:
        held.enter_context(quiet(place.data))  # first, as a round of a sync does
        held.enter_context(steady(place.data))
        view = held.enter_context(closing(QueueView(place.data)))
        store = held.enter_context(writing(expected(place)))
        local = held.enter_context(builtin_embedder())
        chosen = selected(place, asked, store, view)
        queue = held.enter_context(closing(Queue(place.data)))
        with store.unit() as unit:
            work, statuses, moves = _changed(unit, chosen)
            moved = [row for row, (was, is_) in statuses.items() if (was in HIDDEN) != (is_ in HIDDEN)]
            context.renew(unit, local, store.cell, unit.touched(moved))
            report = _report(place.data, store, chosen, work, statuses, moves) | {"id": uid}
            _keep(unit, uid, now, chosen, work, moves, report)
            _close(unit, chosen, now)
            queue.put_back(chosen.record.get("notes", ()))  # before it is committed: what waits must never be lost
            if chosen.naming and naming.due(place.data, chosen.naming):
                naming.give(place.data, chosen.naming[0], chosen.naming[2])
        queue.let_go(place.name)
        for row in chosen.waiting:
            queue.drop(row["uid"])
    if moves:
        publish(place.data)
    return report


def listed(place: Chosen) -> list[dict[str, Any]]:
    """Return what was undone, newest first."""
    with reading(place) as catalogue:
        found = undone.listed(catalogue.reader.db).items()
        return [{"id": uid} | {name: one[name] for name in ("at", "what", "did", "undone")} for uid, one in found]


def _changed(unit: "SqliteUnit", chosen: Selected) -> "tuple[Work, dict[int, tuple[str, str]], list[rescoped.Move]]":
    """Change the rows of a store; return that work, (was, is) of each status that changed, and what moved."""
    from memman.store.sqlite.undo import Work

    work = Work(unit)
    work.unreport(chosen.reports)
    work.bring_back(chosen.forgotten)
    if chosen.stored:
        work.take_back(chosen.stored, now_ms())
    work.reverse(chosen.record.get("images", ()))
    moves = rescoped.move(unit, rescoped.back(chosen.record.get("moved", ())), now_ms())
    return work, work.settled(), moves


def _report(
    data: str,
    store: "SqliteStore",
    chosen: Selected,
    work: "Work",
    statuses: dict[int, tuple[str, str]],
    moves: Sequence[rescoped.Move],
) -> dict[str, Any]:
    reports = list(_reported(work))
    rows = store.reader.rows([*statuses, *work.left, *(row for row, _ in reports)])
    fresh = freshness(store.reader, rows)
    became = {
        row: "restored" if was in HIDDEN and now not in HIDDEN else _BECAME.get(now, now)
        for row, (was, now) in statuses.items()
    }
    notes = [(row, "taken out of the queue") for row in chosen.waiting]
    notes += [(row, "queued again") for row in chosen.record.get("notes", ())]
    report: dict[str, Any] = {
        "id": None,
        "what": chosen.what,
        "memories": [
            *(
                {"id": rows[row].uid, "text": rows[row].text, "became": said} | fresh[row]
                for row, said in (*became.items(), *reports)
            ),
            *(
                {"id": uid, "text": text, "became": said} | _of_one(store.reader, uid)
                for uid, text, said in rescoped.told(store.db, moves)
            ),
        ],
        "notes": [{"id": row["uid"], "text": row["text"], "became": said} for row, said in notes],
        "left": [
            {"id": rows[row].uid, "text": rows[row].text, "why": why} | fresh[row]
            for row, why in work.left.items()
            if row in rows
        ],
    }
    report["names"] = naming.told(data, chosen.naming, moves) if chosen.naming else []
    renamed = bool(chosen.naming) and naming.due(data, chosen.naming)
    return report | {"changed": bool(report["memories"] or report["notes"] or work.images() or renamed)}


def _reported(work: "Work") -> Iterator[tuple[int, str]]:
    """Yield the memories of which a report is dropped, or said again."""
    for table, key, before, _ in work.images():
        if table == "evidence" and key[1] in FEEDBACK:
            yield key[0], f"no longer reported {key[1]}" if before else f"reported {key[1]} again"


def _of_one(reader: "SqliteReader", uid: str) -> dict[str, int | None]:
    """Return what may make it doubtful that a memory still holds; of a rule nothing."""
    return next(iter(freshness(reader, reader.located([uid])).values()), {})


def _keep(
    unit: "SqliteUnit",
    uid: str,
    now: int,
    chosen: Selected,
    work: "Work",
    moves: Sequence[rescoped.Move],
    report: dict[str, Any],
) -> None:
    """Keep what was done under an id, and write the one line of the log."""
    if not report["changed"]:
        return
    did = _summary(report)
    record = {
        "at": now,
        "what": chosen.what,
        "did": did,
        "undone": "",
        "images": work.images(),
        "notes": list(chosen.waiting),
        "stored": chosen.stored,
        "put": [row["uid"] for row in chosen.record.get("notes", ())],
        "moved": moves,
        "named": chosen.naming,
    }
    unit.record = None  # what follows is the undo's own
    undone.keep(unit, uid, record)
    if chosen.undo:
        undone.keep(unit, chosen.undo, chosen.record | {"undone": uid})
    unit.tell(now, "undo", uid, f"{chosen.what}: {did}")


def _summary(report: dict[str, Any]) -> str:
    counts: dict[str, int] = {}
    for one in (*report["memories"], *report["notes"]):
        counts[one["became"]] = counts.get(one["became"], 0) + 1
    return ", ".join(f"{count} {said}" for said, count in counts.items()) or "what it changed"


def _close(unit: "SqliteUnit", chosen: Selected, now: int) -> None:
    """Give notes that leave the queue a receipt, so that no drain stores them; take it from those that come back."""
    for row in chosen.waiting:
        stamped = (row[one] for one in ("source", "agent", "session", "cwd", "repository", "revision", "host", "user"))
        note = Note(row["uid"], row["store"], "", row["queued_at"], provenance=Provenance(*stamped))
        unit.receipt(note, now, OUTCOME, 0)
    for row in chosen.record.get("notes", ()):
        unit.db.execute("DELETE FROM receipt WHERE note = ? AND outcome = ?", (row["uid"], OUTCOME))
