"""Retiring memories, and bringing them back."""

from collections.abc import Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.govern.ids import Named, all_named
from memman.govern.stores import Chosen, looking, writing
from memman.model.errors import UnknownId
from memman.queue.notes import Queue

if TYPE_CHECKING:
    from memman.store.sqlite.store import SqliteStore


def forget(place: Chosen, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Retire what the ids name, in one transaction; return a record for each memory and note."""
    with looking(place) as (catalogue, queue):
        found = all_named(parts, catalogue, queue, place.name)
        texts = {one.note: queue.show(one.note)["text"] for one in found if one.note}
    with writing(place) as store:
        rows = _retire(store, found)
        done = _records(store, rows)
    done += [{"id": uid, "kind": "note", "text": text, "changed": True} for uid, text in texts.items()]
    _drop(place.data, list(texts))
    return done


def restore(place: Chosen, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Bring back forgotten memories."""
    with looking(place) as (catalogue, queue):
        found = all_named(parts, catalogue, queue, place.name)
    waiting = next((one.note for one in found if one.note), None)
    if waiting:
        raise UnknownId(f"{waiting[-8:]} is a note that waits and was not forgotten")
    now = now_ms()
    with writing(place) as store:
        with store.unit() as unit:
            rows = {memory: unit.restore(memory, now) for one in found for memory in one.memories}
        return _records(store, rows)


def _retire(store: "SqliteStore", found: Sequence[Named]) -> dict[int, bool]:
    """Close memories; a waiting note's receipt is written first, so that a drain at work cannot store it."""
    now = now_ms()
    done: dict[int, bool] = {}
    with store.unit() as unit:
        for one in found:
            if one.note:
                unit.forget_note(one.note, now)
            # A drain may have stored the note since it was looked up.
            rows = store.reader.located([one.note]) if one.note else one.memories
            done |= {memory: unit.forget(memory, now) for memory in rows}
    return done


def _records(store: "SqliteStore", rows: dict[int, bool]) -> list[dict[str, Any]]:
    memories = store.reader.rows(rows)
    return [
        {"id": memories[row][1], "kind": "memory", "text": memories[row][3], "changed": changed}
        for row, changed in rows.items()
    ]


def _drop(data: str, notes: Sequence[str]) -> None:
    if not notes:
        return
    with closing(Queue(data)) as queue:
        for uid in notes:
            queue.drop(uid)
