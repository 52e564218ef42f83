"""What waits for a person, who approves or rejects it: memories held back, and those maybe replaced by newer ones."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.config.schedule import refuse_stopped
from memman.govern.ids import all_named
from memman.govern.stores import Chosen, looking, steadily, writing
from memman.model.errors import UnknownId
from memman.pipeline import context
from memman.pipeline.injection import order
from memman.pipeline.link import Subject, connected
from memman.pipeline.link.alias import aliases
from memman.providers import builtin_embedder
from memman.store.sqlite.past import PastReader

if TYPE_CHECKING:
    from memman.embed import LocalEmbedder
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit


@steadily
def approve(place: Chosen, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Let memories that were held back be found, named and linked like any; return a record for each.

    What is maybe replaced is superseded by the newer memory.
    """
    rows, now = _named(place, parts, "insights approve"), now_ms()
    with writing(place) as store, builtin_embedder() as local:
        with store.unit() as unit:
            newer = _newer(store, rows)
            done = context.approve(unit, local, store.cell, rows, now)
            for memory in (row for row, changed in done.items() if changed):
                _join(store, unit, local, memory)
            for old, new in newer.items():
                row = store.reader.rows([new])[new]
                if row.status == "current":
                    done[old] = unit.supersede(old, new, now, row.valid_from, "approved on review")
        return _records(store, done, newer)


@steadily
def reject(place: Chosen, parts: Sequence[str]) -> list[dict[str, Any]]:
    """Retire memories that were held back; `forget --undo` holds them back again. Return a record for each.

    What is maybe replaced stays, and so does the newer memory; neither is marked any more.
    """
    rows, now = _named(place, parts, "insights reject"), now_ms()
    with writing(place) as store, builtin_embedder() as local:
        waiting = [row for row, memory in store.reader.rows(rows).items() if memory.status == "review"]
        with store.unit() as unit:
            newer = _newer(store, rows)
            done = dict.fromkeys(rows, False) | context.forget(unit, local, store.cell, waiting, now)
            done |= {old: unit.keep(old, now) for old in newer}
        return _records(store, done, newer)


def reason(text: str) -> str:
    """Say why a text was held back, as far as it shows."""
    return order(text) or "contained hidden text"


def _named(place: Chosen, parts: Sequence[str], verb: str) -> list[int]:
    refuse_stopped(place.data, verb)
    with looking(place) as (catalogue, queue):
        found = all_named(parts, catalogue, queue, place.name)
    waiting = next((one.note for one in found if one.note), None)
    if waiting:
        raise UnknownId(f"{waiting[-8:]} is a note still in the queue: only memories are held back")
    return list(dict.fromkeys(memory for one in found for memory in one.memories))


def _newer(store: "SqliteStore", rows: Sequence[int]) -> dict[int, int]:
    """Return those of `rows` that are maybe replaced, each with what by."""
    uids = {memory.uid: row for row, memory in store.reader.rows(rows).items() if memory.status == "current"}
    return {uids[uid]: new for uid, (new, _) in store.reader.newer(uids).items()}


def _join(store: "SqliteStore", unit: "SqliteUnit", local: "LocalEmbedder", memory: int) -> None:
    """Link an approved memory to those before it, and learn the names it tells, as when it came in."""
    row = store.reader.rows([memory])[memory]
    subject = Subject(
        origin=row.origin,
        at=row.valid_from,
        ends=(memory,),
        texts=(row.text,),
        entities=(tuple(json.loads(row.entities)),),
        fingerprint=local.fingerprint,
        vectors=local.vectors([row.text]),
        local=local,
    )
    unit.link(connected(PastReader(store.reader, memory, row.recorded_at), subject))
    unit.put_aliases(memory, aliases(row.text))


def _records(store: "SqliteStore", done: dict[int, bool], newer: dict[int, int]) -> list[dict[str, Any]]:
    """Describe what was done; `newer` is the uid of the other side where a memory was maybe replaced."""
    memories = store.reader.rows([*done, *newer.values()])
    return [
        {"id": memories[row].uid, "text": memories[row].text, "source": memories[row].source, "changed": changed}
        | {"newer": memories[newer[row]].uid if row in newer else None}
        for row, changed in sorted(done.items())
    ]
