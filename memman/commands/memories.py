"""Memories as verbs name them: what an id means, what may be told of each, and changing those that ids name."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memman.clock import now_ms
from memman.commands.place import Place, looking, steadily, writing
from memman.config.schedule import refuse_stopped
from memman.model.errors import AmbiguousId, UnknownId, UsageError
from memman.model.text import SHORT_ID
from memman.model.vocabulary import WITHHELD
from memman.queue.view import QueueView
from memman.store.sqlite.catalogue import Catalogue, freshness
from memman.store.sqlite.reader import SqliteReader

if TYPE_CHECKING:
    from memman.store.sqlite.store import SqliteStore
    from memman.store.sqlite.unit import SqliteUnit

Records = list[dict[str, Any]]
# Changes one memory at a moment; False where there is nothing to change.
Change = Callable[["SqliteStore", "SqliteUnit", int, int], bool]

# Shorter ones are named by accident too easily: among 1000 memories four digits are unambiguous 98 times of 100.
SHORTEST = 4
# The ids of notes are that long, those of memories are shorter.
LONGEST = 32
_CANDIDATES = 5
# What an agent is told of a memory that is held back, in place of what it says.
_SAYS: dict[str, Any] = {"text": WITHHELD, "summary": "", "entities": [], "keywords": []}


@dataclass(frozen=True, slots=True)
class Named:
    """What one id names: rows of memories, or in `note` the uid of a note that waits; `uid` is the whole id."""

    uid: str
    memories: tuple[int, ...] = ()
    note: str = ""


def named(part: str, catalogue: Catalogue, queue: QueueView, store: str) -> Named:
    """Find what `part` names in `store`. Raises UsageError, UnknownId and AmbiguousId."""
    part = checked(part)
    stored = _stored(part, catalogue.named(part))
    known = {one.uid for one in stored}  # a note whose drain died before it said so is in the queue, too
    found = [*stored, *(Named(uid, note=uid) for uid in queue.named(store, part) if uid not in known)]
    exact = [one for one in found if one.uid == part]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise UnknownId(f"store {store!r} has no memory or queued note with the id {part}")
    raise AmbiguousId(f"{part} is ambiguous, give more characters: {_candidates(found, part)}")


def all_named(parts: Sequence[str], catalogue: Catalogue, queue: QueueView, store: str) -> list[Named]:
    """Find what each of `parts` names, all before anything is done with the first."""
    return list(dict.fromkeys(named(part, catalogue, queue, store) for part in parts))


def all_memories(parts: Sequence[str], catalogue: Catalogue, queue: QueueView, store: str) -> list[int]:
    """Return the rows of the stored memories that `parts` name, each once. Raises also where one names a note."""
    found = all_named(parts, catalogue, queue, store)
    waiting = next((one.note for one in found if one.note), None)
    if waiting:
        raise UnknownId(
            f"{waiting[-SHORT_ID:]} is a note still in the queue, not a memory yet: try again after the next drain"
        )
    return list(dict.fromkeys(memory for one in found for memory in one.memories))


def rows_of(place: Place, parts: Sequence[str]) -> list[int]:
    """Return what `all_memories` does of a store that is opened for it."""
    with looking(place) as (catalogue, queue):
        return all_memories(parts, catalogue, queue, place.name)


def one_memory(part: str, catalogue: Catalogue, queue: QueueView, store: str) -> int:
    """Return the row of the one stored memory that `part` names. Raises also where it names a note."""
    found = named(part, catalogue, queue, store)
    if found.note:
        raise UnknownId(f"{part} is a note still in the queue, not a memory yet: try again after the next drain")
    if len(found.memories) > 1:
        uids = ", ".join(memory["uid"][:SHORT_ID] for memory in catalogue.memories(found.memories))
        raise AmbiguousId(f"{part} is a note that became several memories, give one of: {uids}")
    return found.memories[0]


def _stored(part: str, rows: Iterable[tuple[int, str, str]]) -> list[Named]:
    """Group memories: each by its own uid where that begins with `part`, the rest by their note."""
    notes: dict[str, tuple[int, ...]] = {}
    for row, uid, note in rows:
        name = uid if uid.startswith(part) else note
        notes[name] = (*notes.get(name, ()), row)
    return [Named(uid, memories) for uid, memories in notes.items()]


def checked(part: str) -> str:
    """Return what may be an id, in small letters. Raises UsageError."""
    if not (part.isascii() and part.isalnum() and SHORTEST <= len(part) <= LONGEST):
        raise UsageError(f"{part[:40]!a} is not an id: ids are {SHORTEST} to {LONGEST} letters and digits")
    return part.lower()


def _candidates(found: Sequence[Named], part: str) -> str:
    """Name the first few, each with enough digits to tell it from the others."""
    shown = [
        one.uid[-SHORT_ID - 4 :] if len(one.uid) == LONGEST else one.uid[: len(part) + 4] for one in found[:_CANDIDATES]
    ]
    return ", ".join(shown) + (" and others" if len(found) > _CANDIDATES else "")


def veiled(place: Place, reader: SqliteReader, uid: str, record: dict[str, Any]) -> dict[str, Any]:
    """Return what may be told of the memory `uid`: less where an agent asks and nobody has approved it."""
    if not (place.agent and reader.held_back(uid)):
        return record
    return record | {name: said for name, said in _SAYS.items() if name in record}


def acted(place: Place, reader: SqliteReader, changed: Mapping[int, bool]) -> Records:
    """Return a record for each memory, by row, with whether it was changed."""
    rows, fresh = reader.rows(changed), freshness(reader, changed)
    return [
        veiled(place, reader, rows[row].uid, {"id": rows[row].uid, "text": rows[row].text, "changed": did} | fresh[row])
        for row, did in changed.items()
    ]


@steadily
def changed(place: Place, parts: Sequence[str], verb: str, change: Change) -> Records:
    """Change the memories that the ids name, in one transaction; return a record for each."""
    refuse_stopped(place.data, verb)
    rows = rows_of(place, parts)
    with writing(place) as store:
        now = now_ms()
        with store.unit() as unit:
            done = {memory: change(store, unit, memory, now) for memory in rows}
        return acted(place, store.reader, done)
