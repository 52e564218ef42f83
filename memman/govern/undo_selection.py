"""What is to be undone: notes that are stored, notes that wait, or an undo."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from memman.govern.ids import named
from memman.govern.stores import Chosen
from memman.model.errors import UnknownId, UsageError
from memman.model.text import SHORT_ID
from memman.queue.view import QueueView
from memman.store.sqlite import undone
from memman.store.sqlite.catalogue import Catalogue

if TYPE_CHECKING:
    from memman.store.sqlite.store import SqliteStore


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks to be undone: by one id, or all of a session, of a drain, or since a moment."""

    id: str = ""
    session: str = ""
    drain: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Selected:
    """Notes that are stored, and rows of the queue; or beside them an undo, with its record. `what` names all of it."""

    what: str
    stored: tuple[str, ...] = ()
    waiting: tuple[dict[str, Any], ...] = ()
    undo: str = ""
    record: dict[str, Any] = field(default_factory=dict)


def selected(place: Chosen, asked: Asked, store: "SqliteStore", queue: QueueView) -> Selected:
    """Find what is asked for. Raises UnknownId, AmbiguousId and UsageError."""
    db, name = store.db, place.name
    if asked.session:
        session = undone.one_of({*undone.sessions(db), *queue.sessions(name)}, asked.session, "session")
        return _made(f"session {session}", store, undone.of_session(db, session), queue.rows(name, session=session))
    if asked.drain:
        drain, notes = undone.of_drain(db, asked.drain)
        return _made(f"drain {drain}", store, notes, [])
    if asked.since is not None:
        waiting = queue.rows(name, since=asked.since)
        return _made("all since then", store, undone.since(db, asked.since), waiting)
    return _by_id(place, asked.id.lower(), store, queue)


def _by_id(place: Chosen, part: str, store: "SqliteStore", queue: QueueView) -> Selected:
    undos = undone.found(store.db, part) if len(part) >= SHORT_ID else {}
    if len(undos) == 1:
        return _undo(place, *next(iter(undos.items())), store, queue)
    notes = undone.noted(store.db, part) if len(part) >= SHORT_ID and part.isalnum() else []
    if len(notes) != 1:
        found = named(part, Catalogue(store.reader, store.path), queue, place.name)
        notes = [found.note] if found.note else sorted({row.note for row in store.reader.rows(found.memories).values()})
    return _made(f"note {notes[0][-SHORT_ID:]}", store, notes, queue.rows(place.name, uids=notes))


def _undo(place: Chosen, uid: str, record: dict[str, Any], store: "SqliteStore", queue: QueueView) -> Selected:
    """Return what undoes an undo: its images, and the notes that it had put back into the queue."""
    if record["undone"]:
        by = record["undone"][-SHORT_ID:]
        raise UsageError(f"{uid[-SHORT_ID:]} is undone already: to do it again, memman undo {by}")
    waiting = queue.rows(place.name, uids=record["put"])
    there = _made("", store, [note for note in record["put"] if store.reader.has_receipt(note)], waiting)
    return Selected(f"undo {uid[-SHORT_ID:]}", there.stored, there.waiting, uid, record)


def _made(what: str, store: "SqliteStore", notes: Collection[str], waiting: list[dict[str, Any]]) -> Selected:
    """Return a selection; of a note that is stored though the queue has it the store knows better."""
    stored = dict.fromkeys(note for note in notes if store.reader.has_receipt(note))
    rows = tuple(row for row in waiting if not store.reader.has_receipt(row["uid"]))
    if not stored and not rows and what:
        raise UnknownId(f"nothing in this store is of {what}")
    return Selected(what, tuple(stored), rows)
