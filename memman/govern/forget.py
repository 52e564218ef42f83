"""Retiring memories, and bringing them back."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.commands.memories import Named, acted, all_memories, all_named
from memman.commands.place import Place, looking, steadily, writing
from memman.config.schedule import refuse_stopped
from memman.model.errors import ForPeople
from memman.model.records import DEFAULT_IMPORTANCE, Draft, Fact, Note, Provenance
from memman.model.text import SHORT_ID
from memman.model.uid import memory_uid
from memman.model.vocabulary import PROTECTED
from memman.pipeline.scope import scope
from memman.queue.notes import Queue
from memman.store.sqlite import undo

# Memories that an agent may forget in a session, or where it has none in a day.
FORGETS_A_SESSION = 10
_DAY_MS = 86_400_000

if TYPE_CHECKING:
    from memman.store.sqlite.catalogue import Catalogue
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit


@steadily
def forget(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Retire what the ids name, in one transaction; return a record for each memory and note."""
    refuse_stopped(place.data, "forget")
    with looking(place) as (catalogue, queue):
        found = all_named(parts, catalogue, queue, place.name)
        waiting = {one.note: queue.show(one.note) for one in found if one.note}
        if place.agent:
            _check_agent(place, catalogue, [memory for one in found for memory in one.memories], waiting)
    with writing(place) as store:
        rows = _retire(store, found, waiting)
        done = _records(place, store, rows)
    with looking(place) as (catalogue, _):
        for row, record in zip(rows, done, strict=True):
            record["replaced"] = [{"id": one["uid"]} | _said(one) for one in catalogue.predecessors(row)[-1:]]
    _drop(place, list(waiting))
    return done + [_turn(row) for row in waiting.values() if row["channel"] != "note"]


def _check_agent(
    place: Place, catalogue: "Catalogue", memories: Sequence[int], waiting: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raise ForPeople where an agent would forget what is protected, a turn, or more than FORGETS_A_SESSION."""
    if turn := next((row for row in waiting.values() if row["channel"] != "note" or row["damaged"]), None):
        short = turn["uid"][-SHORT_ID:]
        raise ForPeople(
            f"{short} waits to be read and cannot be brought back: only a person drops it, `memman forget {short}` in"
            " their own terminal"
        )
    kept = (one["uid"] for one in catalogue.memories(memories) if catalogue.reader.meta(PROTECTED + one["uid"]))
    if uid := next(kept, None):
        short = uid[:SHORT_ID]
        raise ForPeople(
            f"{short} is protected: only a person forgets it, `memman forget {short}` in their own terminal"
        )
    before = undo.by_agents(catalogue.reader.db, place.session, now_ms() - _DAY_MS)
    if before + len(memories) + len(waiting) > FORGETS_A_SESSION:
        raise ForPeople(
            f"an agent forgets at most {FORGETS_A_SESSION} memories a session: ask the user to run `memman forget` in"
            " their own terminal"
        )


@steadily
def restore(place: Place, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Bring back forgotten memories; the record of each has its status now.

    Raises ForPeople where an agent is to bring back what a person rejected.
    """
    refuse_stopped(place.data, "forget --undo")
    with looking(place) as (catalogue, queue):
        memories = all_memories(parts, catalogue, queue, place.name)
        named = catalogue.memories(memories) if place.agent else []
        rejected = catalogue.reader.rejected(one["text"] for one in named)
    if one := next((one for one in named if one["text"] in rejected), None):
        raise ForPeople(
            f"{one['uid'][:SHORT_ID]} was rejected by a person: only they bring it back, with"
            f" `memman forget --undo {one['uid'][:SHORT_ID]}` in their own terminal"
        )
    now = now_ms()
    with writing(place) as store:
        with store.unit() as unit:
            rows = {memory: unit.restore(memory, now) for memory in memories}
        stand = store.reader.rows(rows)
        records = zip(rows, _records(place, store, rows), strict=True)
        return [record | {"status": stand[row].status} for row, record in records]


def _retire(store: "SqliteStore", found: Sequence[Named], waiting: Mapping[str, Mapping[str, Any]]) -> dict[int, bool]:
    """Close memories. A waiting note becomes one that is forgotten already, so that --undo finds it."""
    now = now_ms()
    memories: list[int] = []
    with store.unit() as unit:
        for one in found:
            if one.note:
                with unit.other_act(now, one.note):
                    _store(unit, waiting[one.note], now)
            # A drain may have stored the note since it was looked up.
            memories += store.reader.located([one.note]) if one.note else one.memories
        return {memory: unit.forget(memory, now) for memory in dict.fromkeys(memories)}


def _store(unit: "SqliteUnit", row: Mapping[str, Any], now: int) -> None:
    """Store a waiting note with its receipt first; of a turn or a damaged note nothing can be brought back."""
    names = tuple(row["entities"].split("\n")) if row["entities"] else ()
    stamped = (row[name] for name in ("source", "agent", "session", "cwd", "repository", "revision", "host", "user"))
    note = Note(row["uid"], row["store"], row["text"], row["queued_at"], provenance=Provenance(*stamped))
    spoken = row["channel"] == "note" and not row["damaged"]
    if not unit.receipt(note, now, "forgotten", int(spoken)) or not spoken:
        return
    fact = Fact(note.text, row["category"] or "fact", row["importance"] or DEFAULT_IMPORTANCE, names)
    origin = note.provenance.origin
    uid, holds = memory_uid(note.uid, 0), scope(note, replace(fact, scope=row["scope"]))
    memory = unit.add(Draft(uid, note.uid, fact, note.provenance.source, origin, note.queued_at, scope=holds), now)
    unit.linked("", memory, memory)


def _records(place: Place, store: "SqliteStore", rows: dict[int, bool]) -> list[dict[str, Any]]:
    return [record | {"kind": "memory"} for record in acted(place, store.reader, rows)]


def _said(memory: Mapping[str, Any]) -> dict[str, Any]:
    return {name: memory[name] for name in ("text", "ends_at", "file_changed_at")}


def _turn(row: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": row["uid"], "kind": "note", "text": row["text"], "changed": True}


def _drop(place: Place, waiting: Sequence[str]) -> None:
    """Take notes that wait out of the queue, and what is kept of those that are done."""
    with closing(Queue(place.data)) as queue:
        queue.let_go(place.name)
        for uid in waiting:
            queue.drop(uid)
