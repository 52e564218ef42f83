"""What is to be undone: notes that are stored, notes that wait, or an undo."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from memman.govern.ids import checked, named
from memman.govern.naming import Naming, back
from memman.govern.stores import Chosen
from memman.model.errors import AmbiguousId, UnknownId, UsageError
from memman.model.text import SHORT_ID
from memman.queue.view import QueueView
from memman.store.sqlite import acts, undone
from memman.store.sqlite.catalogue import Catalogue

if TYPE_CHECKING:
    from memman.store.sqlite.store import SqliteStore


SINCE = "all since then"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asks to be undone: by one id, or all of a session, of a drain, or since a moment."""

    id: str = ""
    session: str = ""
    drain: str = ""
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Selected:
    """Notes that are stored, and rows of the queue; or beside them an undo, with its record. `what` names all of it.

    Without a note of theirs there are rows of memories that were `forgotten`, and `reports` of some.
    """

    what: str
    stored: tuple[str, ...] = ()
    waiting: tuple[dict[str, Any], ...] = ()
    forgotten: tuple[int, ...] = ()
    reports: tuple[acts.Report, ...] = ()
    undo: str = ""
    record: dict[str, Any] = field(default_factory=dict)

    @property
    def naming(self) -> Naming:
        """What takes back the name that a repository was given, empty for none."""
        given = self.record.get("named")
        return back(given) if given else ()


def selected(place: Chosen, asked: Asked, store: "SqliteStore", queue: QueueView) -> Selected:
    """Find what is asked for. Raises UnknownId, AmbiguousId and UsageError."""
    db, name = store.db, place.name
    if asked.session:
        known = {*undone.sessions(db), *acts.sessions(db), *queue.sessions(name)}
        session = undone.one_of(known, asked.session, "session")
        waiting = queue.rows(name, session=session)
        did = acts.of_session(db, session)
        return _made(f"session {session}", store, undone.of_session(db, session), waiting, *did)
    if asked.drain:
        drain, notes = undone.of_drain(db, asked.drain)
        return _made(f"drain {drain}", store, notes, [])
    if asked.since is not None:
        waiting = queue.rows(name, since=asked.since)
        return _made(SINCE, store, undone.since(db, asked.since), waiting, *acts.since(db, asked.since))
    return _by_id(place, asked.id, store, queue)


def _by_id(place: Chosen, part: str, store: "SqliteStore", queue: QueueView) -> Selected:
    part, catalogue = checked(part), Catalogue(store.reader, store.path)
    undos, notes = undone.found(store.db, part), undone.noted(store.db, part)
    memories = [uid for _, uid, _ in catalogue.named(part) if uid.startswith(part)]
    if (undos or notes) and len({*undos, *notes, *memories, *queue.named(place.name, part)}) > 1:
        raise AmbiguousId(f"{part} is ambiguous, give more characters of the id")
    if undos:
        return _undo(place, *next(iter(undos.items())), store, queue)
    if not notes:
        found = named(part, catalogue, queue, place.name)
        notes = [found.note] if found.note else sorted({row.note for row in store.reader.rows(found.memories).values()})
    return _made(f"note {notes[0][-SHORT_ID:]}", store, notes, queue.rows(place.name, uids=notes))


def _undo(place: Chosen, uid: str, record: dict[str, Any], store: "SqliteStore", queue: QueueView) -> Selected:
    """Return what undoes an undo: its images, and the notes that it had put back into the queue."""
    if record["undone"]:
        by = record["undone"][-SHORT_ID:]
        raise UsageError(f"{uid[-SHORT_ID:]} is undone already: to do it again, memman undo {by}")
    waiting = queue.rows(place.name, uids=record["put"])
    there = _made("", store, [note for note in record["put"] if store.reader.has_receipt(note)], waiting)
    return replace(there, what=f"undo {uid[-SHORT_ID:]}", undo=uid, record=record)


def _made(
    what: str,
    store: "SqliteStore",
    notes: Collection[str],
    waiting: list[dict[str, Any]],
    forgotten: Collection[int] = (),
    reports: Collection[acts.Report] = (),
) -> Selected:
    """Return a selection; of a note that is stored though the queue has it the store knows better."""
    stored = dict.fromkeys(note for note in notes if store.reader.has_receipt(note))
    rows = tuple(row for row in waiting if not store.reader.has_receipt(row["uid"]))
    if what and not (stored or rows or forgotten or reports):
        raise UnknownId(f"there is nothing to undo {'since then' if what == SINCE else f'of {what}'}")
    return Selected(what, tuple(stored), rows, tuple(forgotten), tuple(reports))
