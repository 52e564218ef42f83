"""`memman forget`: retire memories, and bring them back."""

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

import click

from memman.belief import AGENT, UNWANTED
from memman.clock import now_ms
from memman.commands.person import asking
from memman.commands.place import Opened, Place, Records, acted, changed, note_of, opened, steadily, writing
from memman.commands.printing import acted as line
from memman.commands.printing import freshness, short, table, text
from memman.commands.verb import Told, ids_argument, verb
from memman.config.schedule import refuse_stopped
from memman.model.errors import ForPeople
from memman.model.records import DEFAULT_IMPORTANCE, Draft, Fact
from memman.model.text import SHORT_ID
from memman.model.uid import memory_uid
from memman.model.vocabulary import REMEMBERED
from memman.queue.notes import Queue

if TYPE_CHECKING:
    from memman.store.sqlite.unit import SqliteUnit

# Memories that an agent may forget in a session, or where it has none in a day.
FORGETS_A_SESSION = 10
_DAY_MS = 86_400_000
# What became of a memory that was to be restored, by its status now.
_BECAME = {"current": "restored", "superseded": "superseded again", "review": "held back again"}


def told(records: Records, otherwise: str = "not forgotten") -> None:
    """Print what became of memories that were to be restored, `otherwise` of those that stay as they were."""
    table([line(_BECAME[one["status"]] if one["changed"] else otherwise, one) for one in records])
    for one in records:
        if one["changed"] and one["status"] == "superseded":
            text(f"to restore it: memman insights reinstate {short(one['id'])}")


def _forgotten(records: Records) -> None:
    table([line("forgotten" if one["changed"] else "already forgotten", one) for one in records])
    for old in [old for record in records if record["changed"] for old in record.get("replaced", ())]:
        said = ", ".join(("superseded", *freshness(old)))
        text(f"this had replaced {short(old['id'])}, which is still {said}: {old['text']}")
        text(f"to go back to that: memman insights reinstate {short(old['id'])}")


@verb(shows=Told)
@ids_argument
@click.option("--undo", is_flag=True, help="Restore forgotten memories.")
def forget(place: Place, ids: Sequence[str], *, undo: bool = False) -> Told:
    """Forget memories; --undo restores them.

    ID is a memory, a note (all memories from it), or a note still in the queue. `memman purge` deletes permanently.
    """
    place = dataclasses.replace(place, agent=asking())
    return Told(restore(place, ids), told) if undo else Told(forgotten(place, ids), _forgotten)


@steadily
def forgotten(place: Place, parts: Sequence[str]) -> Records:
    """Retire what the ids name, in one transaction; return a record for each memory and note."""
    refuse_stopped(place.data, "forget")
    with opened(place) as seen:
        found = seen.find_all(parts)
        waiting = {one.note: seen.queue.show(one.note) for one in found if one.note}
        if place.agent:
            _check_agent(seen, [memory for one in found for memory in one.memories], waiting)
    now, memories = now_ms(), list[int]()
    with writing(place) as store:
        with store.unit() as unit:
            for one in found:
                if one.note:
                    with unit.other_act(now, one.note):
                        _store(unit, waiting[one.note], now)
                # A drain may have stored the note since it was looked up.
                memories += store.reader.located([one.note]) if one.note else one.memories
            rows = {memory: unit.forget(memory, now) for memory in dict.fromkeys(memories)}
        done = acted(place, store.reader, rows)
    with opened(place) as seen:
        for row, record in zip(rows, done, strict=True):
            record["kind"] = "memory"
            record["replaced"] = [
                {"id": one["uid"], **{name: one[name] for name in ("text", "ends_at", "file_changed_at")}}
                for one in seen.predecessors(row)[-1:]
            ]
    with closing(Queue(place.data)) as notes:
        for uid in waiting:
            notes.drop(uid)
    turns = [row for row in waiting.values() if row["channel"] not in REMEMBERED]
    return done + [{"id": row["uid"], "kind": "note", "text": row["text"], "changed": True} for row in turns]


def noted_by_agents(place: Place, parts: Sequence[str]) -> tuple[list[str], list[str]]:
    """Part ids: those of what agents alone noted and no person looked at, and the rest."""
    theirs = []
    with opened(place) as store:
        for part in parts:
            one = store.find(part)
            said = store.reader.statements(one.memories).values()
            sources = {store.queue.show(one.note)["source"]} if one.note else {statement.source for statement in said}
            if sources != {AGENT} or any(statement.looked_at for statement in said):
                theirs.append(part)
    return [part for part in parts if part not in theirs], theirs


def ask_to_forget(place: Place, parts: Sequence[str]) -> Records:
    """Have a person decide, by `review`, whether memories are forgotten."""
    return changed(
        place, parts, "forget", lambda _, unit, memory, now: unit.bear_out(memory, UNWANTED, place.session, now)
    )


def _check_agent(store: Opened, memories: Sequence[int], waiting: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise ForPeople where an agent would forget what is protected, a turn, or more than FORGETS_A_SESSION."""
    if turn := next((row for row in waiting.values() if row["channel"] not in REMEMBERED), None):
        short = turn["uid"][-SHORT_ID:]
        raise ForPeople(
            f"{short} is not read yet and could not be restored: only a person may drop it, with "
            f"`memman forget {short}` in their own terminal"
        )
    known = store.reader.statements(memories)
    kept = (one["uid"] for one in store.memories(memories) if known[one["id"]].protected)
    if uid := next(kept, None):
        short = uid[:SHORT_ID]
        raise ForPeople(
            f"{short} is protected: only a person may forget it, with `memman forget {short}` in their own terminal"
        )
    from memman.store.sqlite.undo import by_agents

    before = by_agents(store.db, store.place.session, now_ms() - _DAY_MS)
    if before + len(memories) + len(waiting) > FORGETS_A_SESSION:
        raise ForPeople(
            f"an agent may forget at most {FORGETS_A_SESSION} memories a session: ask the user to run "
            "`memman forget` in their own terminal"
        )


@steadily
def restore(place: Place, parts: Sequence[str]) -> Records:
    """Bring back forgotten memories; the record of each has its status now.

    Raises ForPeople where an agent is to bring back what a person rejected.
    """
    refuse_stopped(place.data, "forget --undo")
    with opened(place) as seen:
        memories = seen.rows_of(parts)
        named = seen.reader.rows(memories).values() if place.agent else ()
        rejected = seen.reader.rejected(row.text for row in named)
    if row := next((row for row in named if row.text in rejected), None):
        short = row.uid[:SHORT_ID]
        raise ForPeople(
            f"{short} was rejected by a person: only a person can restore it, with `memman forget --undo {short}` in"
            " their own terminal"
        )
    now = now_ms()
    with writing(place) as store:
        with store.unit() as unit:
            rows = {memory: unit.restore(memory, now) for memory in memories}
        stand = store.reader.rows(rows)
        records = zip(rows, acted(place, store.reader, rows), strict=True)
        return [record | {"kind": "memory", "status": stand[row].status} for row, record in records]


def _store(unit: "SqliteUnit", row: Mapping[str, Any], now: int) -> None:
    """Store a waiting note with its receipt first; of a turn nothing can be brought back."""
    from memman.pipeline.scope import scope  # with the whole pipeline

    names = tuple(row["entities"].split("\n")) if row["entities"] else ()
    note = note_of(row)
    spoken = row["channel"] in REMEMBERED
    if not unit.receipt(note, now, "forgotten", int(spoken)) or not spoken:
        return
    fact = Fact(note.text, row["category"] or "fact", row["importance"] or DEFAULT_IMPORTANCE, names)
    origin = note.provenance.origin
    uid, holds = memory_uid(note.uid, 0), scope(note, dataclasses.replace(fact, scope=row["scope"]))
    memory = unit.add(Draft(uid, note.uid, fact, note.provenance.source, origin, note.queued_at, scope=holds), now)
    unit.unlinked(memory, memory)
